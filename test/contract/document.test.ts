/** The table of clauses beside the platform's document: each sentence of it is a clause, or is known to say nothing that can be checked. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { clauses, sections, silent } from '../../src/contract/index.js'

const document = readFileSync(new URL('platform-api.md', import.meta.url), 'utf8')

/** Headings and rows whole, the rest sentence by sentence. */
function saidIn(text: string): readonly string[] {
  return text.split('\n').flatMap(line => {
    if (/^\|[-|]+\|$/.test(line) || line === '') return []
    if (line.startsWith('#') || line.startsWith('|')) return [line]
    return line.replace(/^\d+\. /, '').split(/(?<=\.) (?=[A-Z])/)
  })
}

const said = saidIn(document)
const quoted = clauses.flatMap(({ quotes }) => quotes)
const known = new Set([...quoted, ...silent.map(({ quote }) => quote)])

test('every sentence and every row of the document is quoted by a clause, or is known to say nothing that can be checked', () => {
  expect(said.length).toBeGreaterThan(80)
  expect(said.filter(sentence => !known.has(sentence))).toEqual([])
})

test('what clauses quote stands in the document, to the letter', () => {
  expect([...known].filter(quote => !said.includes(quote))).toEqual([])
})

test('no sentence is both checked and said to be beyond any check', () => {
  expect(silent.filter(({ quote }) => quoted.includes(quote))).toEqual([])
  for (const { why } of silent) expect(why).toMatch(/^[a-z].*[^.]$/)
})

test('what the document does not show is a decision, and what it says is none', () => {
  const isOpen = (quote: string) => quote.endsWith('not shown.')
  for (const { id, quotes, source, section } of clauses) {
    expect(quotes.filter(isOpen), id).toEqual(source === 'decided' ? quotes : [])
    expect(quotes.length > 0 || section === 'Beyond the document', id).toBe(true)
  }
})

test('clauses have ids of one form, each once, and say what they are about in a sentence', () => {
  const ids = clauses.map(({ id }) => id)
  expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
  for (const { id, source, what, section } of clauses) {
    expect(id).toMatch(source === 'decided' ? /^[A-Z]+-D\d+$/ : /^[A-Z]+-\d+(\.\d+)?$/)
    expect(what, id).toMatch(/\.$/)
    expect(sections).toContain(section)
  }
})

test('a clause stands where the document has what it quotes', () => {
  const headings = new Map<string, string>()
  let heading = ''
  for (const sentence of said) {
    if (sentence.startsWith('## ')) heading = sentence.slice(3)
    headings.set(`${heading}|${sentence}`, heading)
  }
  for (const { id, section, quotes } of clauses) {
    if (section === 'Beyond the document') continue
    expect(
      quotes.some(quote => headings.has(`${section}|${quote}`)),
      `${id} in ${section}`,
    ).toBe(true)
  }
})

test('what a clause needs is a clause, and needs it not in turn', () => {
  const needsOf = new Map(clauses.map(({ id, needs = [] }) => [id, needs]))
  const below = (id: string, above: readonly string[]): void => {
    expect(above, `${id} needs itself`).not.toContain(id)
    for (const needed of needsOf.get(id) ?? [`${id} is no clause`]) {
      expect(needsOf.has(needed), `${id} needs ${needed}`).toBe(true)
      below(needed, [...above, id])
    }
  }
  for (const { id } of clauses) below(id, [])
})

test('a documented clause needs decisions only where it could not be asked without', () => {
  const needing = clauses.filter(({ source, needs = [] }) => source === 'documented' && needs.some(id => /-D/.test(id)))
  expect(needing.map(({ id }) => id)).toEqual(['CHAT-2.2', 'AUTH-2'])
})
