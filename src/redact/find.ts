/** Finds secrets in the text of a file, and says where they are without showing them. */
import type { KnownSecret } from './known.js'
import type { Match } from './matches.js'
import type { RedactionRules } from './names.js'
import { createSecretSearch } from './redaction.js'

/** Line and column count from 1. */
export interface SecretFinding {
  /** Its name: `jwt`, `key`, or the name of a header, a field, a pattern or a known value. */
  readonly kind: string
  readonly line: number
  readonly column: number
}

/** Everything that redacting would replace, in order, and `others` that were found in what the text stands for. */
export function findSecrets(
  text: string,
  rules: RedactionRules,
  others: readonly KnownSecret[] = [],
): readonly SecretFinding[] {
  const found = createSecretSearch(rules)(text)
  const more = others
    .map(secret => placeOf(secret, text))
    .filter(({ start, end, name }) => !found.some(one => one.name === name || (one.start < end && start < one.end)))
  return placed(
    text,
    [...found, ...more].sort((a, b) => a.start - b.start),
  )
}

/** The first place of a value, or the beginning of the text if it is written in another way. */
function placeOf({ name, value }: KnownSecret, text: string): Match {
  const start = Math.max(0, text.indexOf(value), text.indexOf(JSON.stringify(value).slice(1, -1)))
  return { start, end: start + value.length, name, isNumbered: false }
}

function placed(text: string, matches: readonly Match[]): readonly SecretFinding[] {
  let line = 1
  let lineStart = 0
  return matches.map(({ start, name }) => {
    for (let end = text.indexOf('\n', lineStart); end >= 0 && end < start; end = text.indexOf('\n', lineStart)) {
      line++
      lineStart = end + 1
    }
    return { kind: name, line, column: start - lineStart + 1 }
  })
}
