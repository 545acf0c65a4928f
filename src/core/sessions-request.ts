/** What may be asked of sessions over the control API. */
import * as v from 'valibot'
import { closed, optional } from '../check/check.js'

/** Whose sessions are to end. */
export const sessionsOfCall = closed({ user: optional(v.string('text'), 'The id of the user; all users without it.') })
