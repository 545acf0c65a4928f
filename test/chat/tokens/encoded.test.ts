import fc from 'fast-check'
import * as cl100k from 'gpt-tokenizer/encoding/cl100k_base'
import * as o200k from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, test, vi } from 'vitest'
import { loadTokenizer } from '../../../src/chat/tokens/index.js'
import { runs } from '../../runs.js'
import { anyText, longText, wellFormed } from './texts.js'

/** Whether it contains a lone surrogate. */
const hasLoneSurrogate = (text: string) => /\p{Surrogate}/u.test(text)

const asData = { disallowedSpecial: new Set<string>() }

describe.each([
  ['o200k_base', o200k],
  ['cl100k_base', cl100k],
] as const)('%s', (encoding, reference) => {
  const count = (text: string) => reference.encode(text, asData).length

  test('a text has as many tokens as in the reference encoding', async () => {
    const tokenizer = await loadTokenizer(encoding)
    fc.assert(
      fc.property(anyText, text => void expect(tokenizer.count(text)).toBe(count(text))),
      { numRuns: runs(500) },
    )
  })

  test('a long text, counted in blocks of whole words, has as many tokens too', async () => {
    const tokenizer = await loadTokenizer(encoding)
    fc.assert(fc.property(longText, text => void expect(tokenizer.count(text)).toBe(count(text))))
  })

  test('of 1 MB of Base64 only a part is merged, and the count is right within a hundredth', async () => {
    const tokenizer = await loadTokenizer(encoding)
    const data = Buffer.from(
      Uint8Array.from({ length: 750_000 }, (_, i) => Math.imul(i + 1, 0x9e3779b1) >>> 13),
    ).toString('base64')
    const beginning = data.slice(0, 200_000)
    const exactly = tokenizer.count(beginning)
    expect(exactly).toBe(count(beginning))
    const merged = vi.spyOn(TextEncoder.prototype, 'encode')
    expect((tokenizer.count(data) / exactly) * (beginning.length / data.length)).toBeCloseTo(1, 2)
    expect(merged.mock.calls.length).toBeLessThan(data.length / 50)
    merged.mockRestore()
  })

  test('a long text with prose after data has the tokens of both', async () => {
    const tokenizer = await loadTokenizer(encoding)
    const prose = 'The quick brown fox jumps over the lazy dog, again and again.\n'.repeat(5000)
    const data = Buffer.from(Array.from({ length: 90_000 }, (_, i) => Math.imul(i + 1, 0x9e3779b1) >>> 13)).toString(
      'hex',
    )
    const both = tokenizer.count(`${data}\n${prose}`)
    expect(both / (count(data) + count(prose))).toBeCloseTo(1, 1)
  })

  test('the pieces are the tokens, and joined they are the text', async () => {
    const tokenizer = await loadTokenizer(encoding)
    const ascii = 'Tokenization of incomprehensible {"json": [1, 23456]}\n\n    and code();'
    const tokens = reference.encode(ascii, asData).map(token => reference.decode([token]))
    expect(tokenizer.pieces(ascii)).toEqual(tokens)
    fc.assert(
      fc.property(
        fc.oneof(anyText, longText),
        text => void expect(tokenizer.pieces(text).join('')).toBe(text.toWellFormed()),
      ),
      { numRuns: runs(300) },
    )
  })

  test('no piece ends inside a character that has several tokens', async () => {
    const tokenizer = await loadTokenizer(encoding)
    expect(tokenizer.count('𓀀')).toBeGreaterThan(1)
    expect(tokenizer.pieces('𓀀𓀁')).toEqual(['𓀀', '𓀁'])
    fc.assert(
      fc.property(
        wellFormed.filter(text => !hasLoneSurrogate(text)),
        text => void expect(tokenizer.pieces(text).filter(hasLoneSurrogate)).toEqual([]),
      ),
    )
  })

  test('a cut text is a beginning with at most the given number of tokens', async () => {
    const tokenizer = await loadTokenizer(encoding)
    fc.assert(
      fc.property(fc.oneof(anyText, longText), fc.integer({ min: -1, max: 300 }), (text, most) => {
        const cut = tokenizer.cut(text, most)
        expect(text.startsWith(cut)).toBe(true)
        expect(tokenizer.count(cut)).toBeLessThanOrEqual(Math.max(0, most))
        if (tokenizer.count(text) <= most) expect(cut).toBe(text)
      }),
      { numRuns: runs(500) },
    )
  })

  test('names of special tokens are counted as plain text', async () => {
    const tokenizer = await loadTokenizer(encoding)
    const text = '<|endoftext|> and <|im_start|>'
    expect(tokenizer.count(text)).toBeGreaterThan(8)
    expect(tokenizer.pieces(text).join('')).toBe(text)
  })

  // Encoded in one piece, each of these would take many minutes.
  test.each([
    ['a letter', 'a'],
    ['an emoji', '👩‍👩‍👧'],
    ['Chinese characters', '他们不用空格分开词语所以'],
  ])('200 kB of %s without a break is counted quickly', async (_what, unit) => {
    const tokenizer = await loadTokenizer(encoding)
    const text = unit.repeat(200_000 / unit.length)
    const tokens = tokenizer.count(text)
    expect(tokens).toBeGreaterThan(1_000)
    expect(tokens).toBeLessThan(400_000)
    expect(tokenizer.cut(text, 1000).length).toBeGreaterThan(100)
  })
})
