import fc from 'fast-check'
import { expect, test } from 'vitest'
import { documentText, parseDocument } from '../../src/state/document.js'

const parse = (text: string) => parseDocument(Buffer.from(text))

/** What the work returned, or `refused` for a syntax error. */
const outcome = async (work: () => unknown) => {
  try {
    return { value: await work() }
  } catch (error) {
    if (error instanceof SyntaxError) return 'refused'
    throw error
  }
}

const documents = fc.dictionary(fc.string(), fc.oneof(fc.array(fc.jsonValue(), { maxLength: 300 }), fc.integer()), {
  noNullPrototype: true,
})

test('a document is read as JSON.parse reads it, whatever strings and whitespace it has', async () => {
  await fc.assert(
    fc.asyncProperty(documents, fc.constantFrom('', '  '), async (document, indent) => {
      const text = JSON.stringify(document, null, indent)
      expect(await parse(text)).toEqual(JSON.parse(text))
    }),
  )
})

test('a corrupted document is refused exactly when JSON.parse refuses it', async () => {
  const corrupted = documents.chain(document => {
    const text = JSON.stringify(document)
    return fc
      .tuple(fc.nat(text.length), fc.nat(2), fc.constantFrom('', ',', '[', ']', '{', '}', '"', '\\', '0', '[0]'))
      .map(([at, cut, put]) => text.slice(0, at) + put + text.slice(at + cut))
  })
  await fc.assert(
    fc.asyncProperty(corrupted, async text => {
      const whole = await outcome(() => JSON.parse(text))
      // Anything that is not an object is refused later, when the document is read.
      if (whole === 'refused' || /^\s*\{/.test(text)) expect(await outcome(() => parse(text))).toEqual(whole)
    }),
    { numRuns: 500 },
  )
})

test('a trailing comma after 100 rows is refused', async () => {
  const rows = Array.from({ length: 100 }, (_, i) => i)
  expect(await outcome(() => parse(`{"users":[${rows},]}`))).toBe('refused')
})

test('a document is written as JSON.stringify writes it', () => {
  fc.assert(
    fc.property(documents, document => {
      expect([...documentText(document)].join('')).toBe(JSON.stringify(document))
    }),
  )
})
