/** What may be asked of recordings over the control API. */
import * as v from 'valibot'
import { closed, described, optional, word } from '../check/check.js'

const id = 'the id of an exchange in the journal, such as 17'

/** What becomes of the recordings of the same request that are there already. */
export const existings = ['refuse', 'replace', 'append'] as const
export type Existing = (typeof existings)[number]

/** An exchange that is to be a recording. */
export const recordingCall = closed({
  exchange: described(v.pipe(v.string(id), v.regex(/^\d{1,15}$/, id)), 'The id of the exchange in the journal.'),
  existing: optional(
    word(existings),
    'What becomes of recordings of the same request: refuse (the default) leaves them and answers 409, replace takes their place, append adds one that is played after them.',
  ),
})
