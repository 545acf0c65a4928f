/** Finds secrets by the names before them in a text: in settings, code, headers, commands, connection strings and XML. */
import { isNameWithPassword } from './keys.js'
import { type Match, placeholderName, type Search } from './matches.js'
import { dashedName, endsOfNames, type KindOfName, kindsOfNames } from './names.js'
import { isRandom, isSecretInText, type Writing } from './values.js'
import { readAt, type Value, Words } from './words.js'

/** `withPlaceholders` also finds values that are placeholders already. */
export function createAssignmentSearch(names: readonly string[], withPlaceholders = false): Search {
  const kindOf = kindsOfNames(names)
  const ends = [endsOfNames, ...names.map(name => name.slice(-3).replace(/\W/g, '\\$&'))].join('|')
  const separator = new RegExp(`[=:>,|](?<=(?:${ends})\\d?["'\`\\]*]{0,3}[ \\t]{0,16}[?|:+]?[=:>,|])`, 'gi')
  return text => {
    const words = new Words(text)
    const found: Match[] = []
    const add = (name = '', value: Value | undefined) => {
      const kind = kindOf(name)
      const secret = kind && value && secretIn(text, { name, kind, value, words }, withPlaceholders)
      if (secret) found.push({ ...secret, name: placeholderName(name), isNumbered: false })
    }
    for (const { 0: sign, index } of text.matchAll(separator)) {
      const named = isOperator(text, sign, index) ? nameBefore(text, index, kindOf) : undefined
      if (named) add(named.name, valueAfter(text, sign, index, named, words))
      else if (sign === '>') add(elementBefore(text, index), elementText(text, index + 1))
    }
    for (const { 0: all, 1: flag, 2: variable, index } of text.matchAll(commands))
      add(flag ?? variable ?? 'password', words.at(index + all.length, 'setting'))
    for (const { 0: all, index } of text.matchAll(users)) add('password', words.at(index + all.length, 'setting'))
    return found
  }
}

/** A name before its value in a command: a flag, `ENV NAME value`, `.netrc`, SQL, Gradle. */
const commands =
  /(?:^|[\s"'`(])(?:--?([A-Za-z][\w-]{2,40})|(?:ENV|setx?)[ \t]{1,4}(?:-[a-z]{1,2}[ \t]{1,4}){0,3}([A-Z_][A-Z\d_]{2,60})|login\s{1,4}\S{1,100}\s{1,4}password|(?:IDENTIFIED BY|identified by|PASSWORD|(?:[A-Za-z]{1,20}P|p)assword)(?=[ \t]{1,4}["']))[ \t]{1,4}(?=[^\s=:-])/g

/** What curl calls the user has the password as well. */
const users = /(?:^|\s)(?:-u|--user|--proxy-user)[ =]?["']?[^\s:"']{1,128}:/g

/** Neither a comparison nor the middle of a longer sign. A comma is between two texts in quotes. */
function isOperator(text: string, sign: string, index: number): boolean {
  const [before = '', after = ''] = [text[index - 1], text[index + 1]]
  if (sign === '=') return !/[=!<>~]/.test(before) && after !== '='
  if (sign === ':') return before !== ':' && after !== ':' && after !== '='
  return sign === '|' || (sign === ',' && /["'`]/.test(before))
}

const LONGEST_NAME = 64
const MOST_SPACES = 16

interface Name {
  readonly name: string
  readonly start: number
  readonly isSpaced: boolean
}

const isLetter = (code: number) => (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
const isNameCode = (code: number) => isLetter(code) || (code >= 0x30 && code <= 0x39) || code === 0x5f || code === 0x2d
const isSpace = (code: number) => code === 0x20 || code === 0x09
/** Quotes, brackets, and what Markdown has around a word. */
const isWrapping = (code: number) => code === 0x22 || code === 0x27 || code === 0x60 || code === 0x5d || code === 0x2a

/** Where the characters before `end` that pass begin, of at most so many. */
function startOf(text: string, end: number, passes: (code: number) => boolean, most: number): number {
  let start = end
  while (start > 0 && end - start < most && passes(text.charCodeAt(start - 1))) start--
  return start
}

function wordBefore(text: string, end: number): Name | undefined {
  const spaces = startOf(text, end, isSpace, MOST_SPACES)
  const quotes = startOf(text, spaces, isWrapping, 3)
  let start = startOf(text, quotes, isNameCode, LONGEST_NAME)
  // The letter of an escape, as in \nNAME, is not part of the name.
  if (text[start - 1] === '\\' && /[nrt]/.test(text[start] ?? '')) start++
  while (text[start] === '-') start++
  return quotes - start < 2 ? undefined : { name: text.slice(start, quotes), start, isSpaced: spaces < end }
}

/** How far back a name is looked for. */
const NEAR = 160
const near = (text: string, end: number) => text.slice(Math.max(0, end - NEAR), end)

/** The secret name before a separator: `API key` too, `name: NAME, value:`, and a name with a type. */
function nameBefore(text: string, index: number, kindOf: KindOfName): Name | undefined {
  const isEquals = text[index] === '='
  const word = wordBefore(text, isEquals && /[?|:+]/.test(text[index - 1] ?? '') ? index - 1 : index)
  if (!word || kindOf(word.name)) return word
  if (/^(?:keys?|tokens?|codes?|phrase)$/i.test(word.name)) {
    const first = /[ -]/.test(text[word.start - 1] ?? '') ? wordBefore(text, word.start - 1) : undefined
    return first && !first.isSpaced ? { ...word, name: `${first.name}-${word.name}`, start: first.start } : undefined
  }
  if (/^val(?:ue)?$/i.test(word.name)) {
    const [, name] = pair.exec(near(text, word.start)) ?? []
    return name === undefined ? undefined : { ...word, name }
  }
  const colon = startOf(text, word.start, isSpace, MOST_SPACES) - 1
  const typed = isEquals && text[colon] === ':' ? wordBefore(text, colon) : undefined
  return typed && { ...word, name: typed.name, start: typed.start }
}

const pair = /\b(?:name|key)["']?\s{0,4}[:=]\s{0,4}["']?([\w.-]{2,64})["']?,?\s{1,40}["']?$/i

/** `<name>`, or `<string name="name">`. */
function elementBefore(text: string, end: number): string | undefined {
  if (/["']/.test(text[end - 1] ?? '')) return attribute.exec(near(text, end))?.[1]
  return /[<:.]([\w-]{2,64})$/.exec(near(text, end))?.[1]
}

const attribute = /<[\w:.-]{1,40}\s[^<>]{0,80}\b(?:name|key|id)=["']([\w.-]{2,64})["']$/

const beforeContent = /\s{0,40}(?:<!\[CDATA\[)?/y

/** The text between the tags of an element that has nothing else. */
function elementText(text: string, from: number): Value | undefined {
  const start = from + readAt(beforeContent, text, from).length
  const close = text.indexOf('<', start)
  if (close < 0 || !text.startsWith('</', close)) return undefined
  const content = text.slice(start, close).trimEnd()
  const { length } = content.endsWith(']]>') ? content.slice(0, -3) : content
  return { start, end: start + length, writing: 'setting' }
}

/** Between a separator and its value: Markdown, spaces, and the prefix of a text in Python. */
const gap = /[*_]{0,3}[ \t]{0,16}(?:[bruf]{1,2}(?=["']))?/iy
const isVariable = /^[A-Z][A-Z\d_]+$/

/** A value after a separator, with how it is written. */
function valueAfter(text: string, sign: string, index: number, named: Name, words: Words): Value | undefined {
  const isArrow = sign === '=' && text[index + 1] === '>'
  const from = index + (isArrow ? 2 : 1)
  const start = from + readAt(gap, text, from).length
  if (sign === '|' && !named.isSpaced) return undefined
  if (sign === ',' && (named.isSpaced || !/["'`]/.test(text[start] ?? ''))) return undefined
  const before = text[startOf(text, named.start, isSpace, MOST_SPACES) - 1] ?? '\n'
  const isTight = sign === '=' && !isArrow && !named.isSpaced && start === from && !/[,({[]/.test(before)
  if (isTight && isVariable.test(named.name)) return words.at(start, 'variable')
  if (isTight && before !== '.') return words.at(start, 'setting')
  const value = words.at(start, 'bare')
  if (value.writing !== 'bare' || sign === ',' || sign === '|') return value
  const after = text[value.end] ?? '\n'
  if (/["']/.test(after) && after === before) return { ...value, writing: 'setting' }
  if (!/[\n\r]/.test(after) || !/[\n\r.-]/.test(before)) return value
  // Headers have a dash in their names.
  return { ...value, writing: named.name.includes('-') ? 'setting' : 'line' }
}

interface Assignment {
  readonly name: string
  readonly kind: NonNullable<ReturnType<KindOfName>>
  readonly value: Value
  readonly words: Words
}

const scheme = /(?:Bearer|Basic|Token|Digest|Api-?Key)[ \t]{1,4}/iy
const placeholder = /\[[a-z][a-z\d-]*\]/y

/** Where the secret of a value is, which may follow the word Bearer; `undefined` if it is none. */
function secretIn(
  text: string,
  { name, kind, value: { start: from, end: to, writing }, words }: Assignment,
  withPlaceholders: boolean,
): Pick<Match, 'start' | 'end'> | undefined {
  const before = readAt(scheme, text, from)
  const start = from + before.length
  const placed = withPlaceholders ? readAt(placeholder, text, start) : ''
  if (placed !== '') return { start, end: start + placed.length }
  if (kind === 'cookie') {
    const line = words.line(start)
    return hasSecretCookie(line) ? { start, end: start + line.length } : undefined
  }
  const isLiteral = writing === 'literal'
  if (isLiteral && start >= to) return undefined
  const token = before === '' ? undefined : words.at(start, 'bare')
  const end = token ? Math.min(token.end, isLiteral ? to : token.end) : to
  const value = text.slice(start, end)
  const dashed = dashedName(name)
  const isSecret =
    kind === 'maybe'
      ? isLikelySecret(value, dashed, writing, isVariable.test(name))
      : isSecretInText(dashed, value, token && writing === 'bare' ? 'literal' : writing)
  return isSecret || (token && isNameWithPassword(value)) ? { start, end } : undefined
}

/** What may as well be something else than a secret has to look like one. */
function isLikelySecret(value: string, name: string, writing: Writing, isInEnvironment: boolean): boolean {
  const isLong = value.length >= 16 || (value.length >= 12 && isInEnvironment) || name.endsWith('pass')
  return isLong && isRandom(value.slice(0, 256)) && isSecretInText(name, value, writing)
}

const hasSecretCookie = (line: string) =>
  line.split(';').some(cookie => {
    const equals = cookie.indexOf('=')
    return equals > 0 && isSecretInText('session', cookie.slice(equals + 1).trim(), 'setting')
  })
