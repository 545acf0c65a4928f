/** Sentences that many tests expect. Their wording comes from the source, or is written here once. */
import * as check from '../src/check/check.js'
import { missText } from '../src/check/finding.js'
import { NOT_KNOWN } from '../src/check/forms.js'
import { unreadable } from '../src/check/problem.js'
import { suggesting as didYouMean } from '../src/check/suggest.js'
import * as errors from '../src/core/errors.js'
import { missingCredential, unknownApiKey } from '../src/keys/errors.js'
import { EITHER_REPLY } from '../src/replies/rule-form.js'
import { emailExists, invalidCredentials, userBanned } from '../src/supabase/errors.js'

export { AN_OBJECT, range } from '../src/check/check.js'
export { NEEDS_LIVE } from '../src/platform/config/load.js'
/** The suggestion after a wrong name, with its leading space. */
export { didYouMean }

// Invalid values.

/** The sentence about a field with a wrong value, such as `mustBe('port', wholeNumber(0, 65535), 'x')`. */
export const mustBe = (field: string, expectation: string, ...value: readonly [unknown?]) =>
  `${field} ${check.mustBe(expectation, ...value)}.`

/** The same about a value in a YAML file that would be a string in quotes. */
export const unquoted = (sentence: string) => `${sentence} Put it in quotes.`

/** The beginning of such a sentence. */
export const mustBeSuch = (field: string, beginning: string) => `${field} ${check.mustBe(beginning)}`

/** The sentence about a missing field. */
export const isMissing = (field: string, expectation: string) => `${field} ${check.isMissing(expectation)}`

/** What follows the name of an unknown field; `nearest` is the suggestion. */
export const isUnknown = (nearest?: string) => NOT_KNOWN + (nearest === undefined ? '' : didYouMean(nearest))

export const wholeNumber = (least: number, most?: number) => check.range('a whole number', least, most)
export const oneOf = (...words: readonly string[]) => check.oneOfWords(words)
export const NOT_EMPTY = 'a string that is not empty'
export const TRUE_OR_FALSE = 'true or false'
export const validPattern = (why: string) => `a valid regular expression (${why})`

// Refused requests.

export const KEY_UNKNOWN = unknownApiKey().message
export const NO_CREDENTIAL = missingCredential().message
export const NO_BODY = errors.emptyBody().message
export const tooLarge = (bytes: number) => errors.bodyTooLarge(bytes).message
export const tooDeep = (levels: number) => errors.tooDeep(levels).message
export const notReached = (why: string) => errors.upstreamUnreachable(why).message
/** The same on the terminal. */
export const missOf = (method: string, path: string) => missText({ method, path, reason: '' }).trimEnd()

// Rules.

export const NO_RULES = 'There are no rules for such requests.'
export const NO_RULE = errors.noRuleMatches('').message.trimEnd()
export const NEAREST = 'The nearest is'
export const ONLY_RULE = 'The only rule for such requests is'
export const NO_VALUE_FITS = 'no value fits the schema'
export const NO_VALUE_FOUND = 'no value that fits the schema was found'
/** Why a rule does not match. */
export const lacks = (field: string, text: string) => `${field} does not contain "${text}"`
export { RAW_HINT } from '../src/replies/templates/names.js'
export const notInTemplates = (name: string) => `${name} is not known in templates.`
export const eitherReply = (rule: string) => `${rule} ${EITHER_REPLY}`

// Files and the command line.

export const cannotBeRead = (code = 'ENOENT') => unreadable('', { code }).sentence
export const notValid = (language: 'YAML' | 'JSON') => `This is not valid ${language}`
export const flagOneOf = (flag: string, words: readonly string[], written: string) =>
  `${flag} must be one of ${words.join(', ')}, not "${written}".`
export const flagWhole = (flag: string, least: number, most: number, written: string) =>
  `${flag} must be a whole number from ${least} to ${most}, not "${written}".`
/** The error about an argument of a command that takes none. */
export const takesNoMore = (command: string, word: string) =>
  `standin ${command} takes no arguments, but got "${word}".`
export const notACommand = (words: string) => `${words} is not a command.`

// The auth backend, in the words of Supabase.

export const WRONG_LOGIN = invalidCredentials().message
export const BANNED = userBanned().message
export const EMAIL_TAKEN = emailExists().message
export const NOT_AN_EMAIL = 'Unable to validate email address: invalid format'
export const NOT_A_PHONE = 'Invalid phone number format (E.164 required)'
export const passwordShorterThan = (characters: number) => `Password should be at least ${characters} characters.`
