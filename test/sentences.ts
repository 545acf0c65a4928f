/** Sentences that many tests expect: a change of their wording is made in the source alone. */
import { NOT_KNOWN } from '../src/check/check.js'
import { unknownApiKey } from '../src/core/errors.js'

/** What follows the name of a field that does not exist; `nearest` is the one that is suggested. */
export const isUnknown = (nearest?: string) => NOT_KNOWN + (nearest === undefined ? '' : ` Did you mean "${nearest}"?`)

/** The error for an API key that does not exist. */
export const KEY_UNKNOWN = unknownApiKey().message
