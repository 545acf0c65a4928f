/** Tells values that may be secrets from placeholders, references, words and expressions. */

/** A whole value that is a placeholder of ours. */
export const isPlaceholder = /^\[[a-z][a-z\d-]*\]$/

/** Whether it has more digits and mixed case than words joined by dashes. */
export function looksRandom(text: string): boolean {
  if (/[a-z][A-Z]|[A-Z]{2}[a-z]/.test(text)) return true
  if ((text.match(/\d/g)?.length ?? 0) >= 8) return true
  return text.split(/[^A-Za-z0-9]/).some(part => part.length >= 6 && /\d/.test(part) && /[A-Za-z]/.test(part))
}

const wordParts = /\p{Lu}+\p{Ll}*|\p{Ll}+|\d+|\p{Lo}+/gu

/** Whether no program would call anything like this: letters and digits change places often. `Uint8Array` is a name. */
export function isRandom(text: string): boolean {
  if (text.length < 8 || !/[A-Za-z]/.test(text)) return false
  const parts = text.match(wordParts) ?? []
  const digits = parts.filter(part => /\d/.test(part)).length
  const isShort = parts.length >= 4 && parts.join('').length / parts.length <= 2.7
  return isShort || (digits >= 2 && parts.length - digits >= 2) || (digits > 0 && /[!@#$%^&*+=?~]/.test(text))
}

/** Words of what documentation and tests show in place of a secret, and what it is on each machine of a developer. */
const dummy =
  /^(?:your|my|own|some|super|very|strong|long|example|sample|dummy|placeholder|change|redacted|hidden|masked|removed|insert|replace|generated?|random|todo|here|foo|bar|baz|test|testing|fake|mock|demo|default|secret|password|passwd|pass|pw|token|key|credential|value|string|api|access|auth|admin|root|user|guest|local|dev|prod|the|me|this|that|with|not|real|postgres|mysql|redis|mongo|minio|rabbit|x{3,}|abc(?:def)?|qwerty?z?)+$/i
const sequence = /^0?1234?5?6?7?8?9?0?$|^(.)\1{2,}$/
const misspelt = /p[a@][s$]{2}w[o0]r?d|s[e3]cr[e3]t/gi

/** Whether one of its words is a dummy, and the rest is no more than words. */
export function isDummy(value: string): boolean {
  const words = value.replace(misspelt, 'Secret').match(wordParts) ?? []
  const rest = words.filter(word => !dummy.test(word) && (value.length >= 16 || !sequence.test(word)))
  return rest.length < words.length && !isRandom(rest.join('-'))
}

/** `$NAME`, `${NAME}`, `{{ name }}`, `<name>`, `%NAME%`, `[name]`, `***`, `!secret name`, and templates in a text. */
const template =
  /^(?:\$(?:[A-Za-z_]\w*$|[({\d])|[<{[…]|%\w+%|[*•.]+$|!\w+ )|\$[{(]|\{\{|<\/?[a-z]|%[({]|#\{|\[[a-z][a-z\d-]*\]/i
/** Where a secret is kept: a path, an address, a variable. */
const location = /^(?:(?:[A-Za-z]:\\|~|\.{1,2})?\/|process\.|import\.|os\.|env[.:(]|vault:|secrets?\.)/i
const address = /^[a-z][\w+.-]*:(?:\/\/|aws:)/i
const member = /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)*$/
const fileName = /\.(?:pem|key|crt|p12|pfx|jks|json|ya?ml|env|txt|js|ts|py|pub)$/i
const call = /^[A-Za-z_$][\w.$]*[([]/

/**
 * How a value is written: `literal` in quotes, `setting` as in a file of settings or a command, `variable` as in an
 * environment, `line` as the rest of a line, `bare` as in code and prose.
 */
export type Writing = 'literal' | 'setting' | 'variable' | 'line' | 'bare'

const passwordName = /pass-?(?:word|wd|phrase|code)?\d?$|pwd\d?$|pw$/
const codeName = /(?:otp|code|pin)s?$/

/** Longer values are judged by their beginning. */
const JUDGED = 256

/** Whether the value beside this name in a text is a secret. The name has dashes between its words. */
export function isSecretInText(name: string, whole: string, writing: Writing): boolean {
  const value = whole.slice(0, JUDGED)
  if (value.length < 6 || template.test(value) || address.test(value) || /(?:\.{3}|…)$/.test(value)) return false
  if (writing !== 'literal' && call.test(value)) return false
  if (/\s/.test(value)) return isSecretPhrase(name, value)
  if (/^\d+$/.test(value)) return isSecretNumber(name, value, writing)
  if (isDummy(value)) return false
  if (isRandom(value)) return !fileName.test(value) && (writing !== 'bare' || !isExpression(value))
  return writing !== 'bare' && !location.test(value) && isUnusual(name, value, writing)
}

function isSecretPhrase(name: string, value: string): boolean {
  const words = value.split(/\s+/)
  if (words.some(word => isRandom(word) && !isDummy(word))) return true
  return passwordName.test(name) && words.length === 2 && /\d/.test(value) && isRandom(value) && !isDummy(value)
}

/** In code, such as `Oas3_2Types.Device`, `NAME$1` and `!0`. */
const isExpression = (value: string) => /^!|[(){}[\];]/.test(value) || (/[$.]/.test(value) && member.test(value))

const isSecretNumber = (name: string, value: string, writing: Writing) =>
  (codeName.test(name) || (passwordName.test(name) && writing !== 'bare')) &&
  !'01234567890123456789'.includes(value) &&
  !/^(\d{1,2})\1+$/.test(value)

/** Names in programs that end with digits. */
const nameWithDigits = /^[A-Za-z]+\d?$|^(?:sha|md|utf|base|u?int|float|varchar|char|text|bit|rsa|aes)\d+$/i

/** A password that somebody has chosen, and a key without digits. */
function isUnusual(name: string, value: string, writing: Writing): boolean {
  const isMixed = /[A-Za-z]/.test(value) && /[\d!@#$%^&*+?~]/.test(value)
  if (passwordName.test(name)) {
    if (isMixed) return !/[_./]/.test(value) && (writing !== 'line' || !nameWithDigits.test(value))
    return writing === 'variable' && /^[A-Za-z]{8,}$/.test(value)
  }
  if (writing === 'line') return false
  if (/^[A-Za-z]{20,}$/.test(value)) return !/[a-z][A-Z]/.test(value)
  return isMixed && value.length >= (writing === 'literal' ? 16 : 8) && !/[-_./]/.test(value)
}

/** A code of digits is a sign-in code; the code of an error is not. */
export const isSignIn = (name: string, value: string) => value !== '' && (name !== 'code' || /^\d{4,}$/.test(value))

/** Three words or more that begin or end like a sentence, as in an error message. A passphrase does neither. */
const sentence = /^(?:\p{Lu}\p{Ll}|[^.,!?:;()]+[.,!?:;()])/u
const scheme = /^(?:bearer|basic|token|digest) /i

/** Whether the value of a field with this name is a secret, whose name alone tells so; `value` has dashes like the name in `dashed`. */
export function isSecretValue(name: string, value: string, dashed: string): boolean {
  if (value === '' || value.startsWith('[') || /^(?:null|true|false)$/.test(value) || name.endsWith(dashed))
    return false
  if (/^(?:token|credentials?)$/.test(name)) return value.length >= 16 && !value.includes(' ') && looksRandom(value)
  if (name.endsWith('cookie')) return value.includes('=')
  if (/pass-?(?:word|wd|phrase|code)|pwd/.test(name)) return value.split(' ', 3).length < 3 || !sentence.test(value)
  return !/\s/.test(value) || scheme.test(value) || looksRandom(value)
}
