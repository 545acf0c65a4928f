/** The table of clauses compared with the platform's document: each sentence is quoted by a clause, or is known to be uncheckable. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { clauses, sections, silent } from '../../src/contract/index.js'

const document = readFileSync(new URL('platform-api.md', import.meta.url), 'utf8')

/** Headings and rows whole, the rest sentence by sentence. */
function sentencesIn(text: string): readonly string[] {
  return text.split('\n').flatMap(line => {
    if (/^\|[-|]+\|$/.test(line) || line === '') return []
    if (line.startsWith('#') || line.startsWith('|')) return [line]
    return line.replace(/^\d+\. /, '').split(/(?<=\.) (?=[A-Z])/)
  })
}

const sentences = sentencesIn(document)
const quoted = clauses.flatMap(({ quotes }) => quotes)
const known = new Set([...quoted, ...silent.map(({ quote }) => quote)])

test('every sentence and row of the document is quoted by a clause, or is known to be uncheckable', () => {
  expect(sentences.length).toBeGreaterThan(80)
  expect(sentences.filter(sentence => !known.has(sentence))).toEqual([])
})

test('clauses quote the document word for word', () => {
  expect([...known].filter(quote => !sentences.includes(quote))).toEqual([])
})

test('no sentence is both quoted by a clause and listed as uncheckable', () => {
  expect(silent.filter(({ quote }) => quoted.includes(quote))).toEqual([])
  for (const { why } of silent) expect(why).toMatch(/^[a-z].*[^.]$/)
})

test('decided clauses quote only what the document leaves open, and documented clauses only what it says', () => {
  const isOpen = (quote: string) => quote.endsWith('not shown.')
  for (const { id, quotes, source, section } of clauses) {
    expect(quotes.filter(isOpen), id).toEqual(source === 'decided' ? quotes : [])
    expect(quotes.length > 0 || section === 'Beyond the document', id).toBe(true)
  }
})

test('clause ids are unique and have one form, and each clause is described in a sentence', () => {
  const ids = clauses.map(({ id }) => id)
  expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
  for (const { id, source, what, section } of clauses) {
    expect(id).toMatch(source === 'decided' ? /^[A-Z]+-D\d+$/ : /^[A-Z]+-\d+(\.\d+)?$/)
    expect(what, id).toMatch(/\.$/)
    expect(sections).toContain(section)
  }
})

test('a clause is in the section of the document that it quotes', () => {
  const headings = new Map<string, string>()
  let heading = ''
  for (const sentence of sentences) {
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

test('a clause needs only clauses that exist, and none in a cycle', () => {
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

test('a documented clause needs a decided one only where it cannot be checked without it', () => {
  const needing = clauses.filter(({ source, needs = [] }) => source === 'documented' && needs.some(id => /-D/.test(id)))
  expect(needing.map(({ id }) => id)).toEqual(['CHAT-2.2', 'AUTH-2'])
})
