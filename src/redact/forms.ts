/** Finds secrets by their form: tokens, keys, parameters of addresses, and what the configuration adds. */
import { unescape as decoded } from 'node:querystring'
import { credentialsIn, jwtsIn, keysIn, privateKeysIn } from './keys.js'
import { type Match, placeholderName, type Search } from './matches.js'
import { type IsSecretName, type RedactionRules, secretParametersWith } from './names.js'
import { readAt } from './words.js'

/** `postgres://app:password@`. The last @ before the path ends it. */
const passwordInAddress = /:\/\/[^\s/?#@:"'<>\\]{0,128}:([^\s/?#"'<>\\]{1,256})@/g

/** What documentation shows in place of a password, and what it is on each machine of a developer. */
const noPassword = /^(?:[$<*{[%].*|pass(?:word|wd)?|pwd?|secret|your.*|x+|\.+|…)$/i

function addressPasswordsIn(text: string): readonly Match[] {
  const found: Match[] = []
  for (const { 0: address, 1: password = '', index } of text.matchAll(passwordInAddress)) {
    const end = index + address.length - 1
    const start = end - password.length
    const isUser = text.slice(index, start - 1).endsWith(`/${password}`)
    if (!isUser && !noPassword.test(password)) found.push({ start, end, name: 'password', isNumbered: false })
  }
  return found
}

/** The addresses of webhooks: whoever knows what follows can post. */
const webhook =
  /(?:hooks\.slack(?:-gov)?\.com|discord(?:app)?\.com\S{1,12}webhooks|webhook\.office(?:365)?\.com|outlook\.office(?:365)?\.com\S{1,8}webhook|hooks\.zapier\.com|hook\.[\w.]{0,12}make\.com|maker\.ifttt\.com|api\.telegram\.org|events\.pagerduty\.com\S{1,8}integration|open-apis\S{1,8}bot\S{1,8}hook|\/hooks?|\/webhook)\/([\w.~%@:=/-]{16,512})/g

function webhooksIn(text: string): readonly Match[] {
  return [...text.matchAll(webhook)].map(({ 0: all, 1: secret = '', index }) => {
    const end = index + all.length
    return { start: end - secret.length, end, name: 'webhook', isNumbered: true }
  })
}

/** Of matches of the same length, configured patterns win over built-in ones, and special ones over general ones. */
export function createFormSearch({
  names,
  patterns,
  emails,
}: Pick<RedactionRules, 'patterns' | 'emails' | 'names'>): Search {
  const searches: readonly Search[] = [
    // First, because in the query of a request the name decides, whatever the value looks like.
    createAddressSearch(secretParametersWith(names)),
    ...patterns.map(({ name, pattern }) => createPatternSearch(name, pattern)),
    addressPasswordsIn,
    webhooksIn,
    privateKeysIn,
    jwtsIn,
    keysIn,
    credentialsIn,
    ...(emails ? [emailsIn] : []),
  ]
  return text => searches.flatMap(search => search(text))
}

function createPatternSearch(name: string, { source, flags }: RegExp): Search {
  const all = new RegExp(source, `${flags.replace(/[gy]/g, '')}g`)
  return text => {
    const found: Match[] = []
    for (const { 0: secret, index } of text.matchAll(all)) {
      if (secret !== '') found.push({ start: index, end: index + secret.length, name, isNumbered: true })
    }
    return found
  }
}

/** The part before the @ has at most 64 characters (RFC 5321, 4.5.3.1.1). */
const email = /(?=@)(?<=([\p{L}\p{N}._+'-]{1,64}))@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}[\p{L}\p{N}-]{0,62}[\p{L}\p{N}]/gu

const emailsIn = (text: string): readonly Match[] =>
  Array.from(text.matchAll(email), ({ 0: host, 1: name = '', index }) => {
    // The letter of an escape, as in `\nada@example.com`, is not part of the name.
    const start = index - name.length + (text[index - name.length - 1] === '\\' ? 1 : 0)
    return { start, end: index + host.length, name: 'email', isNumbered: true }
  })

/** No spaces, and no punctuation that surrounds addresses in a text. */
const run = /[^\s"'<>`{}|^]*/y
const outsideOfRun = /[\s"'<>`{}|^]/

/** A full address, or a path on its own. `and/or` is neither. */
const addressStart = /[A-Za-z\d]:\/\/|(?:^|[^\w%/\\-])\//

const parameters = /[?#&;]([\w.~%+-]{1,128})=/g

/** Up to the next parameter, the end of the address or a placeholder. */
const value = /[^&#\\()[\]\s"'<>`{}|^]*/y
const placeholder = /\[[a-z][a-z\d-]*\]/y

function createAddressSearch(isSecret: IsSecretName): Search {
  return text => {
    const found: Match[] = []
    let runEnd = 0
    let queryStart = -1
    let readTo = 0
    for (const { 0: all, 1: encodedName = '', index } of text.matchAll(parameters)) {
      const name = percentDecoded(encodedName)
      if (index < readTo || !isSecret(name)) continue
      if (index >= runEnd) {
        let runStart = index
        while (runStart > runEnd && !outsideOfRun.test(text[runStart - 1] ?? '')) runStart--
        run.lastIndex = index
        runEnd = index + (run.exec(text)?.[0].length ?? 0)
        queryStart = startOfQuery(text, runStart, runEnd)
      }
      const start = index + all.length
      readTo = start + lengthOfValue(text, start)
      const placeholder = placeholderName(name)
      if (index < queryStart || readTo === start || text.slice(start, readTo) === `[${placeholder}]`) continue
      found.push({ start, end: readTo, name: placeholder, isNumbered: false })
    }
    return found
  }
}

/** The index of the `?` or `#` of the first address in a run. */
function startOfQuery(text: string, from: number, to: number): number {
  const run = text.slice(from, to)
  const address = addressStart.exec(run)
  const rest = address ? run.slice(address.index).search(/[?#]/) : -1
  return address && rest >= 0 ? from + address.index + rest : Number.POSITIVE_INFINITY
}

/** Without the full stop of a sentence, and without the start of a placeholder. */
function lengthOfValue(text: string, start: number): number {
  let end = start
  for (let read = -1; read !== end; end += readAt(placeholder, text, end).length) {
    read = end
    end += readAt(value, text, end).length
  }
  while (end > start && '.,;:!?*$…'.includes(text[end - 1] ?? '')) end--
  return end - start
}

/** Decodes as forms do. Malformed input is decoded as far as possible. */
const percentDecoded = (text: string): string => decoded(text.replaceAll('+', ' '))
