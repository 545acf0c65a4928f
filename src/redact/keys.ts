/** Finds keys and tokens by their form: those of many services, JWTs, private keys, and what follows Bearer and Basic. */
import type { Match } from './matches.js'
import { isDummy, looksRandom } from './values.js'
import { readAt } from './words.js'

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

/** Forms that are enough to tell: AWS, Google, Twilio, SendGrid, Mailchimp, Telegram, Discord, Vault, Doppler, age, Facebook. */
const certainKeys =
  /A[KS]IA[A-Z0-9]{16}|AIza[\w-]{35}|ya29\.[\w-]{20,}|1\/\/0[\w-]{30,}|SK[0-9a-f]{32}|SG\.[\w-]{16,64}\.[\w-]{16,}|[0-9a-f]{32}-us\d{1,2}|\d{8,10}:AA[\w-]{33}|[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}|hv[sbr]\.[\w-]{20,}|dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{30,}|AGE-SECRET-KEY-1[A-Z0-9]{50,}|EAA[A-Za-z0-9]{80,}/
    .source

/** At the beginning of a word: not in `task-`. */
const beginnings = new RegExp(
  `(?<![A-Za-z0-9])(?:(${dashedKeys})|(${plainKeys})|(?:${certainKeys})(?![A-Za-z0-9]))`,
  'g',
)

const letters = /[A-Za-z0-9]*/y
const withDashes = /[\w-]*/y

const SHORTEST_KEY = 16

export function keysIn(text: string): readonly Match[] {
  const found: Match[] = []
  beginnings.lastIndex = 0
  for (let hit = beginnings.exec(text); hit; hit = beginnings.exec(text)) {
    const { 0: beginning, 1: dashed, 2: plain, index } = hit
    const prefix = dashed ?? plain
    const next = beginnings.lastIndex
    const rest = prefix === undefined ? '' : readAt(dashed === undefined ? letters : withDashes, text, next)
    const isKey = prefix === undefined || isRestOfKey(prefix, rest)
    if (isKey) found.push({ start: index, end: next + rest.length, name: 'key', isNumbered: true })
    // If the whole run looks like prose, so do its parts, which need no check of their own.
    beginnings.lastIndex = isKey || dashed !== undefined ? next + rest.length : index + beginning.length
  }
  return found
}

const isRestOfKey = (prefix: string, rest: string) =>
  rest.length >= SHORTEST_KEY && (looksRandom(rest) || isLongRun(rest)) && hasDigit(prefix, rest)

/** These also begin names in programs. */
const hasDigit = (prefix: string, rest: string) =>
  !/^(?:secret_|re_|fw_|ek_|rk_|sk_|key-|fc-|npm_|dapi)$/.test(prefix) || /\d/.test(rest)

const credentials = /[Bb](?:earer|EARER|asic|ASIC)(?:[ \t]{1,8}|\+)([\w.~+/-]*={0,2})/g

/** `Bearer` followed by something that is not a word, and `Basic` followed by a name and a password. */
export function credentialsIn(text: string): readonly Match[] {
  return [...text.matchAll(credentials)].flatMap(({ 0: all, 1: written = '', index }) => {
    const token = written.replace(/\.{1,3}$/, '')
    const isBasic = /^basic/i.test(all)
    const isSecret = isBasic ? isNameWithPassword(token) : token.length >= SHORTEST_KEY && looksRandom(token)
    const start = index + all.length - written.length
    return isSecret ? [{ start, end: start + token.length, name: 'key', isNumbered: true }] : []
  })
}

/** Whether it is Base64 of a name and a password, which is none of the dummies. */
export function isNameWithPassword(token: string): boolean {
  const decoded = Buffer.from(token, 'base64').toString('latin1')
  return /^[\x20-\x39\x3b-\x7e]*:[\x20-\x7e]+$/.test(decoded) && !isDummy(decoded.slice(decoded.indexOf(':') + 1))
}

/** Longer than any word in the place of a key. */
const isLongRun = (text: string): boolean => /[A-Za-z0-9]{20}/.test(text)

/** `{"alg":` in base64url begins with `eyJ`, as every JSON object does. A token has three parts or, if it is encrypted, five. */
const jwt = /(?<![\w-])(?=[\w-]*\.[\w-]+\.)[\w-]*eyJ[\w-]{7,}\.[\w-]+\.[\w-]+(?:\.[\w-]+\.[\w-]+)?/g

export const jwtsIn = (text: string): readonly Match[] =>
  Array.from(text.matchAll(jwt), ({ 0: all, index }) => {
    const start = index + all.indexOf('eyJ')
    return { start, end: index + all.length, name: 'jwt', isNumbered: true }
  })

const pemBegin = /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g
const pemEnd = /-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/y
/** Where the end is missing, as many lines of base64 as follow, within reason. */
const pemLines = /(?:\s{1,9}[A-Za-z0-9+/=]{16,}){1,1000}/y

export const privateKeysIn = (text: string): readonly Match[] =>
  [...text.matchAll(pemBegin)].flatMap(({ 0: begin, index }) => {
    const inside = index + begin.length
    // The next five dashes are its end, or the beginning of another key.
    const dashes = text.indexOf('-----', inside)
    const end = dashes < 0 ? '' : readAt(pemEnd, text, dashes)
    const content = end === '' ? readAt(pemLines, text, inside) : text.slice(inside, dashes)
    // An example with three dots is not a key.
    if (!/[A-Za-z0-9+/=]{16}/.test(content)) return []
    return [{ start: index, end: inside + content.length + end.length, name: 'private-key', isNumbered: true }]
  })
