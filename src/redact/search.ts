/** Looks for secrets in the texts of a body, and says what to write in their places. */
import type { Passage, Passages } from './body.js'
import type { Edit } from './edits.js'
import { type Field, isLogprob } from './fields.js'
import type { KnownSecret } from './known.js'
import { type Match, merged, type Placeholder, placeholderName, type Search } from './matches.js'
import { type Reading, readingsOf } from './readings.js'

interface Searches {
  readonly named: Search
  readonly known: Search
  readonly forms: Search
  readonly onNamed?: (secret: KnownSecret) => void
}

/** Finds secrets however they are escaped. */
export function matchesIn(readings: readonly Reading[], search: Search): readonly Match[] {
  const found: Match[] = []
  for (const reading of readings)
    for (const match of search(reading.text))
      found.push({ ...match, start: reading.at(match.start), end: reading.at(match.end) })
  return merged(found)
}

/**
 * What to write in place of the secrets, in order. Those that look like one are only replaced when no others are left, so
 * that neither their limits nor their numbers depend on what a caller's credential looks like.
 */
export function editsOf(passages: Passages, searches: Searches, placeholder: Placeholder): readonly Edit<string>[] {
  const { named, known, forms, onNamed } = searches
  const certain: Edit<string>[] = []
  const likely: { readonly passage: Passage; readonly matches: readonly Match[] }[] = []
  const edits = (passage: Passage, matches: readonly Match[]) =>
    editsFor(passage.pieces(), matches, match => placeholder(match, passage.text.slice(match.start, match.end)))
  const namedOrKnown: Search = text => {
    const found = named(text)
    for (const { name, start, end } of found) onNamed?.({ name, value: text.slice(start, end) })
    return [...found, ...known(text)]
  }
  for (const passage of passages()) {
    const whole = wholeMatch(passage, onNamed)
    const readings = whole ? [] : readingsOf(passage.text)
    const matches = whole ? [whole] : matchesIn(readings, namedOrKnown)
    if (matches.length > 0) certain.push(...edits(passage, matches))
    else if (certain.length === 0) {
      const matches = matchesIn(readings, forms)
      if (matches.length > 0) likely.push({ passage, matches })
    }
  }
  const found = certain.length > 0 ? certain : likely.flatMap(({ passage, matches }) => edits(passage, matches))
  return found.length === 0 ? found : merged([...withoutLogprobs(passages), ...found])
}

function wholeMatch({ text, pieces }: Passage, onNamed: Searches['onNamed']): Match | undefined {
  const { secret = '' } = pieces()[0] ?? {}
  if (secret === '') return undefined
  const name = placeholderName(secret)
  onNamed?.({ name, value: text })
  return { start: 0, end: text.length, name, isNumbered: false }
}

/** The placeholder goes to the piece where the secret begins; the others lose their parts of it. */
function editsFor(
  pieces: readonly Field[],
  matches: readonly Match[],
  placeholder: (match: Match) => string,
): readonly Edit<string>[] {
  const edits: Edit<string>[] = []
  let piece = 0
  let pieceStart = 0
  for (const match of matches) {
    let to = placeholder(match)
    for (let field = pieces[piece]; field && pieceStart < match.end; field = pieces[piece]) {
      const { length } = field.reading.text
      const [from, end] = [Math.max(match.start - pieceStart, 0), Math.min(match.end - pieceStart, length)]
      if (from < end) {
        edits.push(field.isNumber ? numberEdit(field, from, end, to) : editAt(field, from, end, to))
        to = ''
      }
      // The next match may be in the same piece.
      if (pieceStart + length > match.end) break
      piece++
      pieceStart += length
    }
  }
  return edits
}

const editAt = ({ reading }: Field, from: number, end: number, to: string): Edit<string> => ({
  ...{ start: reading.at(from), end: reading.at(end), to },
})

/** The whole number becomes a text. */
function numberEdit(field: Field, from: number, end: number, to: string): Edit<string> {
  const isDigit = (index: number) => /[\d.eE+-]/.test(field.reading.text[index] ?? '')
  let [first, last] = [from, end]
  while (isDigit(first - 1)) first--
  while (isDigit(last)) last++
  return editAt(field, first, last, `"${to}"`)
}

/** If a text has a secret, the tokens beside it spell it, with their bytes and with alternatives. */
function withoutLogprobs(passages: Passages): readonly Edit<string>[] {
  const edits: Edit<string>[] = []
  for (const passage of passages()) {
    const [field, next] = passage.pieces()
    if (!field || next || !isLogprob(field)) continue
    edits.push({ start: field.start, end: field.end, to: field.isNumber ? passage.text.replace(/\d+/g, '0') : '' })
  }
  return edits
}
