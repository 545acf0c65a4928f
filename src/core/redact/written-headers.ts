/** Finds headers with secret values that are written out in a text: as YAML, as JSON, or as they go over the wire. */
import type { Match, Search } from './match.js'
import type { IsSecretName } from './names.js'

/** `name: value` at the beginning of a line or in braces, `"name": "value"` too, escaped quotes as well, or `[name, value]`. */
const field =
  /(?:^[ \t]*(?:- )*|[{,][ \t]*)(\\*["']?)([A-Za-z][\w-]{2,63})\1[ \t]*:[ \t]*|\[[ \t]*(\\*["']?)([A-Za-z][\w-]{2,63})\3[ \t]*,[ \t]*/gm

const valueBehind = /(?:\\*["'])?([^\n"'{}\\]*)/y

/** What documentation has in the place of a secret, and what no header says. */
const examples = /^[$<*%]|your|example|redacted|placeholder|xxx|\.\.\.|…/i
const words = /^(?:null|true|false|~|string|number|object|required|optional)$/i

export function createFieldSearch(isSecret: IsSecretName): Search {
  return text => {
    const found: Match[] = []
    for (const { 0: before, 2: inBlock, 4: inList, index } of text.matchAll(field)) {
      const name = inBlock ?? inList ?? ''
      if (!isSecret(name)) continue
      valueBehind.lastIndex = index + before.length
      const value = (valueBehind.exec(text)?.[1] ?? '').trimEnd()
      if (!isCredential(value)) continue
      const start = text.indexOf(value, index + before.length)
      found.push({ start, end: start + value.length, name: name.toLowerCase(), isNumbered: false })
    }
    return found
  }
}

function isCredential(value: string): boolean {
  const open = value.replace(/^`?(?:Bearer|Basic|Token)(?: +|$)/i, '')
  const rest = open.replace(/\[[\w-]+\]/g, '')
  if (!/[A-Za-z0-9]/.test(rest) || examples.test(open) || words.test(rest.replace(/[\],]+$/, ''))) return false
  // A sentence; cookies have blanks as well, but each with an equals sign.
  return rest.includes('=') || rest.split(/ +/).length < 4
}
