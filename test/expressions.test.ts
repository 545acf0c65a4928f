import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { expressionsOf } from './architecture.js'

const SHORT = 2500
/** Quicker searches are too quick to be compared, and no harm in texts of many megabytes. */
const HARMLESS_MS = 20

const patterns = [
  ...[
    '\\',
    '"',
    "'",
    '%25',
    '\\u0070',
    '\n',
    '\r\n',
    ' ',
    '\t',
    '0',
    '[',
    ']',
    '{',
    '}',
    ',',
    '/',
    '.',
    ':',
    '=',
    '-',
    '@',
    '_',
    '&',
  ],
  ...[
    'a',
    'Z',
    'é',
    'a ',
    'a.',
    'data: ',
    '\\"',
    'name="',
    'eyJ',
    '{{',
    '/*',
    'key:',
    '- ',
    'http://',
    '<a ',
    '(',
    '*',
    '`',
    '$',
  ],
]
const contexts = [
  (text: string) => text,
  (text: string) => `"${text}!`,
  (text: string) => `1${text}\n!`,
  (text: string) => `{${text}`,
]

function millisecondsOf(expression: RegExp, text: string): number {
  const startedMs = performance.now()
  expression.lastIndex = 0
  if (expression.global) text.replace(expression, '')
  else expression.test(text)
  return performance.now() - startedMs
}

/** The fastest of a few runs. It stops as soon as one is fast enough. */
function bestOf(expression: RegExp, text: string, enoughMs: number): number {
  let best = Number.POSITIVE_INFINITY
  for (let run = 0; run < 3 && best > enoughMs; run++) best = Math.min(best, millisecondsOf(expression, text))
  return best
}

function isSlow(expression: RegExp, textOf: (length: number) => string): boolean {
  const longMs = bestOf(expression, textOf(4 * SHORT), HARMLESS_MS)
  return longMs > HARMLESS_MS && longMs > 8 * bestOf(expression, textOf(SHORT), longMs / 8)
}

test('no expression of the source takes more than eight times as long for four times the text', () => {
  const root = path.join(import.meta.dirname, '../src')
  const places = new Map<string, { readonly expression: RegExp; readonly file: string }>()
  for (const file of readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(name => /\.tsx?$/.test(name))) {
    const source = { file, text: readFileSync(path.join(root, file), 'utf8') }
    for (const expression of expressionsOf(source)) places.set(String(expression), { expression, file })
  }
  expect(places.size).toBeGreaterThan(400)
  const slow: string[] = []
  for (const { expression, file } of places.values()) {
    for (const pattern of patterns) {
      const repeated = (length: number) => pattern.repeat(length / pattern.length)
      // Measured once more, since a machine may have been busy.
      const found = contexts.find(within => [1, 2].every(() => isSlow(expression, length => within(repeated(length)))))
      if (found) slow.push(`${file}: ${expression} with ${JSON.stringify(found(pattern))}`)
      if (found) break
    }
  }
  expect(slow).toEqual([])
}, 60_000)
