/** The name and lifetime that a test can give to an API key, in its own process or over the control API. */
import * as v from 'valibot'
import { number } from '../check/check.js'
import { isStorableText } from '../core/state.js'

const aName = 'a string of at most 1000 characters, without unpaired surrogates or NUL characters'
/** A thousand years. */
const LONGEST_MS = 1000 * 365 * 86_400_000

export const name = v.pipe(v.string(aName), v.maxLength(1000, aName), v.check(isStorableText, aName))
export const expiresInMs = number(-LONGEST_MS, LONGEST_MS, 'milliseconds')
