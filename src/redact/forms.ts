/** Finds secrets by their form: tokens, keys, parameters of addresses, and what the configuration adds. */
import { createAddressSearch, traceOfParameter } from './addresses.js'
import { bearersIn, jwtsIn, keysIn, privateKeysIn } from './keys.js'
import { type Match, merged, type Search } from './match.js'
import { type RedactionRules, secretParametersWith } from './names.js'

/**
 * Everything found here contains one of these traces, except email addresses. Most texts contain none and need no
 * search.
 */
const traceOfToken =
  /sk-|[spr]k_|sb_|gh[pousr]_|github_pat_|A[KS]IA|AIza|xox[abeprs]-|hf_|glpat-|gsk_|eyJ|[Bb]earer|BEARER|-----BEGIN/
const traces = new RegExp(`${traceOfToken.source}|${traceOfParameter.source}`)
const tracesOrEmails = new RegExp(`${traces.source}|@|%40`)

/** Finds at least the traces of what the form search finds. */
export function createSuspicion({ patterns, emails }: Pick<RedactionRules, 'patterns' | 'emails'>) {
  const suspicious = emails ? tracesOrEmails : traces
  return (text: string): boolean => patterns.length > 0 || suspicious.test(text)
}

const nothing: readonly Match[] = []

/** Of matches of the same length, configured patterns win over built-in ones, and special ones over general ones. */
export function createFormSearch(rules: Pick<RedactionRules, 'patterns' | 'emails' | 'names'>): Search {
  const suspects = createSuspicion(rules)
  const searches: readonly Search[] = [
    // First, because in the query of a request the name decides, whatever the value looks like.
    createAddressSearch(secretParametersWith(rules.names)),
    ...rules.patterns.map(({ name, pattern }) => createPatternSearch(name, pattern)),
    privateKeysIn,
    jwtsIn,
    keysIn,
    bearersIn,
    ...(rules.emails ? [emailsIn] : []),
  ]
  return text => (suspects(text) ? merged(searches.flatMap(search => search(text))) : nothing)
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

/** The longest part before the @ (RFC 5321, 4.5.3.1.1). */
const LONGEST_NAME = 64

const nameBefore = /[\p{L}\p{N}._+'-]+$/u
const hostAfter = /(?:[\p{L}\p{N}-]{1,63}\.){1,8}[\p{L}][\p{L}\p{N}-]{0,62}[\p{L}\p{N}]/uy

/** Finds email addresses. */
function emailsIn(text: string): readonly Match[] {
  const found: Match[] = []
  for (const { 0: sign, index } of text.matchAll(/@|%40/g)) {
    const name = nameBefore.exec(text.slice(Math.max(0, index - LONGEST_NAME - 1), index))?.[0] ?? ''
    const before = text[index - name.length - 1]
    // The letter of an escape, as in `\nada@example.com`, is not part of the name.
    const start = index - (before === '\\' && /^[bfnrt]./.test(name) ? name.length - 1 : name.length)
    hostAfter.lastIndex = index + sign.length
    if (start === index || !hostAfter.test(text)) continue
    found.push({ start, end: hostAfter.lastIndex, name: 'email', isNumbered: true })
  }
  return found
}
