import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createRedact } from '../../src/redact/index.js'
import { noRules } from './secrets.js'

/** The texts of a file, which are separated by lines of dashes. */
const textsIn = (file: string) =>
  readFileSync(new URL(`corpus/${file}`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n----\n')

const redacted = (text: string) => createRedact(noRules)().text(text)

/** Such a text, and what it is without them. */
const withSecrets = textsIn('secrets.txt').map(written => ({
  text: written.replace(/[‹›]/g, ''),
  hidden: written.split(/‹[^›]*›/).join('[…]'),
}))

test('the corpus has two hundred texts of each kind', () => {
  expect(withSecrets.length).toBeGreaterThanOrEqual(200)
  expect(textsIn('ordinary.txt').length).toBeGreaterThanOrEqual(200)
})

test('exactly the secrets in a text are replaced', () => {
  for (const { text, hidden } of withSecrets)
    expect(redacted(text).replace(/(?<!^)\[[a-z][a-z\d-]*\]/gm, '[…]'), text).toBe(hidden)
})

test('ordinary prose and code stay as they are', () => {
  for (const text of textsIn('ordinary.txt')) expect(redacted(text)).toBe(text)
})
