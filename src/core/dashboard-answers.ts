/** What answers of the dashboard's key API are, for the document. */
import * as v from 'valibot'
import { closed, word } from '../check/check.js'

const text = v.string('text')
const moment = v.pipe(text, v.isoTimestamp())
const momentOrNull = v.nullable(moment)

/** An API key as it may be shown. */
export const keyAnswer = closed({
  id: text,
  name: text,
  start: text,
  state: word(['active', 'expired', 'revoked']),
  created_at: moment,
  last_used_at: momentOrNull,
  expires_at: momentOrNull,
  revoked_at: momentOrNull,
})

/** A key just made, with its secret. */
export const newKeyAnswer = closed({ ...keyAnswer.entries, key: text })

export const keysAnswer = closed({ data: v.array(keyAnswer) })
