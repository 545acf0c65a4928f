/** Finds keys and tokens by their form: those of many services, JWTs, private keys, and what follows Bearer and Basic. */
import type { Match } from './matches.js'
import { looksRandom } from './names.js'

/** Of these, the rest has letters, digits, dashes and underscores. */
const dashedKeys = [
  'sk-|sb_(?:secret|publishable)_|github_pat_|gl(?:pat|dt|rt|soat|ptt|cbt|ft|agent|imt|oas)-|glsa_|glc_|xox[abeprs]-|xapp-',
  'xai-|pplx-|nvapi-|tvly-|csk-|fc-|pcsk_|lsv2_(?:pt|sk)_|tgp_v1_|voyage-key-|GOCSPX-|PMAK-|pypi-|tskey-|AT[AC]TT|figd_',
  'sq0(?:csp|atp)-|do[opr]_v1_|pscale_(?:tkn|pw|oauth)_|dckr_[po]at_|sntry[su]_',
].join('|')

/** Of these, only letters and digits. */
const plainKeys = [
  '[spr]k_(?:live|test)_|rk_|gh[pousr]_|hf_|gsk_|r8_|npm_|shp(?:at|ca|pa|ss|tka)_|whsec_|sbp_|lin_(?:api|oauth)_',
  'phx_|rnd_|rpa_|rubygems_|bkua_|jina_|ek_|ntn_|secret_|re_|fw_|sk_|key-|dapi',
].join('|')

const prefixes = new RegExp(`(?:(${dashedKeys})|${plainKeys})`, 'g')

/** Forms that are enough to tell: AWS, Google, Twilio, SendGrid, Mailchimp, Telegram, Discord, Vault, Doppler, age, Facebook. */
const certainKey =
  /A[KS]IA[A-Z0-9]{16}|AIza[\w-]{35}|ya29\.[\w-]{20,}|1\/\/0[\w-]{30,}|SK[0-9a-f]{32}|SG\.[\w-]{16,64}\.[\w-]{16,}|[0-9a-f]{32}-us\d{1,2}|\d{8,10}:AA[\w-]{33}|[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}|hv[sbr]\.[\w-]{20,}|dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{30,}|AGE-SECRET-KEY-1[A-Z0-9]{50,}|EAA[A-Za-z0-9]{80,}/

/** Everything found here contains one of these traces. */
export const traceOfToken = new RegExp(
  `${prefixes.source}|${certainKey.source}|eyJ|[Bb](?:earer|asic)|BEARER|BASIC|-----BEGIN`,
)

const letters = /[A-Za-z0-9]*/y
const withDashes = /[\w-]*/y

const SHORTEST_KEY = 16

export function keysIn(text: string): readonly Match[] {
  const found: Match[] = []
  prefixes.lastIndex = 0
  for (let hit = prefixes.exec(text); hit; hit = prefixes.exec(text)) {
    const start = hit.index
    if (!isAtWordStart(text, start)) continue
    const continuation = hit[1] === undefined ? letters : withDashes
    const rest = readAt(continuation, text, prefixes.lastIndex)
    const end = prefixes.lastIndex + rest.length
    const isKey = rest.length >= SHORTEST_KEY && (looksRandom(rest) || isLongRun(rest)) && hasDigit(hit[0], rest)
    if (isKey) found.push({ start, end, name: 'key', isNumbered: true })
    // If the whole run looks like prose, so do its parts, which need no check of their own.
    if (isKey || continuation === withDashes) prefixes.lastIndex = end
  }
  for (const { 0: key, index } of text.matchAll(new RegExp(certainKey, 'g'))) {
    const end = index + key.length
    if (isAtWordStart(text, index) && !/[A-Za-z0-9]/.test(text[end] ?? ''))
      found.push({ start: index, end, name: 'key', isNumbered: true })
  }
  return found
}

/** These also begin names in programs. */
const hasDigit = (prefix: string, rest: string) =>
  !/^(?:secret_|re_|fw_|ek_|rk_|sk_|key-|fc-|npm_|dapi)$/.test(prefix) || /\d/.test(rest)

const credentials = /[Bb](?:earer|EARER|asic|ASIC)(?:[ \t]{1,8}|%20|\+)/g

/** `Bearer` followed by something that is not a word, and `Basic` followed by a name and a password. */
export function credentialsIn(text: string): readonly Match[] {
  const found: Match[] = []
  credentials.lastIndex = 0
  for (let hit = credentials.exec(text); hit; hit = credentials.exec(text)) {
    const start = credentials.lastIndex
    const tokenText = readAt(/[\w.~+/-]*={0,2}/y, text, start)
    const token = tokenText.replace(/\.{1,3}$/, '')
    const isBasic = /^basic/i.test(hit[0])
    const isSecret = isBasic ? isNameWithPassword(token) : token.length >= SHORTEST_KEY && looksRandom(token)
    if (isSecret) found.push({ start, end: start + token.length, name: 'key', isNumbered: true })
    credentials.lastIndex = start + tokenText.length
  }
  return found
}

const isNameWithPassword = (token: string) =>
  /^[\x20-\x39\x3b-\x7e]*:[\x20-\x7e]+$/.test(Buffer.from(token, 'base64').toString('latin1'))

function readAt(expression: RegExp, text: string, index: number): string {
  expression.lastIndex = index
  return expression.exec(text)?.[0] ?? ''
}

/** Not in the middle of a word, as in `task-`. The letters of an escape before it are not part of a word. */
function isAtWordStart(text: string, index: number): boolean {
  if (index === 0 || !/[A-Za-z0-9]/.test(text[index - 1] ?? '')) return true
  return /(?:\\[bfnrt]|\\u[\da-f]{4}|%[\da-f]{2})$/i.test(text.slice(Math.max(0, index - 6), index))
}

/** Longer than any word in the place of a key. */
const isLongRun = (text: string): boolean => /[A-Za-z0-9]{20}/.test(text)

/** `{"alg":` in base64url begins like this, as every JSON object does. */
const BEGIN_JSON = 'eyJ'
const SHORTEST_HEAD = 10

/** A token has three parts or, if it is encrypted, five. */
export function jwtsIn(text: string): readonly Match[] {
  const found: Match[] = []
  for (let start = text.indexOf(BEGIN_JSON); start >= 0; ) {
    const headEnd = endOfRun(text, start)
    const isToken = headEnd - start >= SHORTEST_HEAD && text[headEnd] === '.'
    const bodyEnd = isToken ? endOfRun(text, headEnd + 1) : headEnd
    const end = isToken && bodyEnd > headEnd + 1 && text[bodyEnd] === '.' ? endOfRun(text, bodyEnd + 1) : 0
    if (end > bodyEnd + 1) {
      const tokenEnd = endOfEncrypted(text, end)
      found.push({ start, end: tokenEnd, name: 'jwt', isNumbered: true })
      start = text.indexOf(BEGIN_JSON, tokenEnd)
    } else {
      // No other match in this run is more likely.
      start = text.indexOf(BEGIN_JSON, headEnd)
    }
  }
  return found
}

const tokenRun = /[\w-]*/y

function endOfRun(text: string, start: number): number {
  tokenRun.lastIndex = start
  tokenRun.exec(text)
  return Math.max(start, tokenRun.lastIndex)
}

/** The fourth and the fifth part: both or neither. */
function endOfEncrypted(text: string, end: number): number {
  if (text[end] !== '.') return end
  const fourth = endOfRun(text, end + 1)
  if (fourth === end + 1 || text[fourth] !== '.') return end
  const fifth = endOfRun(text, fourth + 1)
  return fifth > fourth + 1 ? fifth : end
}

const pemBegin = /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g
const pemEnd = /-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/y
/** Lines of base64 directly after the beginning, where the end is missing. Line breaks may be escaped. */
const pemLines = /(?:(?:\s|\\[nr]){1,9}[A-Za-z0-9+/=]{16,})+/y

export function privateKeysIn(text: string): readonly Match[] {
  const found: Match[] = []
  for (const { 0: begin, index } of text.matchAll(pemBegin)) {
    const inside = index + begin.length
    const end = endOfPem(text, inside)
    if (end > inside) found.push({ start: index, end, name: 'private-key', isNumbered: true })
  }
  return found
}

function endOfPem(text: string, inside: number): number {
  // The next five dashes are its end, or the beginning of another key.
  const dashes = text.indexOf('-----', inside)
  pemEnd.lastIndex = dashes
  const hasEnd = dashes >= 0 && pemEnd.test(text)
  // An example with three dots is not a key.
  if (hasEnd && /[A-Za-z0-9+/=]{16}/.test(text.slice(inside, dashes))) return pemEnd.lastIndex
  pemLines.lastIndex = inside
  return pemLines.test(text) ? pemLines.lastIndex : inside
}
