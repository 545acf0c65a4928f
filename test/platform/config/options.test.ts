// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} in plain text is what the tests are about

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ProblemsError } from '../../../src/check/problem.js'
import type { ConfigSources } from '../../../src/platform/config/load.js'
import { allOptions, isSecret, walkOptions } from '../../../src/platform/config/options.js'
import { printConfig } from '../../../src/platform/config/print.js'
import { anyCharacter } from '../../characters.js'
import { folderWith, writeInto } from '../../command.js'
import { loadConfig } from '../../configuration.js'
import { runs } from '../../runs.js'

const options = allOptions()
const anyOption = fc.constantFrom(...options)

test('every option and every group has a meaning, in a sentence', () => {
  for (const { path, meaning } of walkOptions()) expect(meaning, path.join('.')).toMatch(/^[A-Z].+\.$/)
})

test('every option has a default and a unique environment variable', () => {
  for (const { path, initial } of options) expect(initial, path.join('.')).toBeDefined()
  expect(new Set(options.map(({ variable }) => variable)).size).toBe(options.length)
  expect(options.map(({ variable }) => variable)).toContain('STANDIN_UPSTREAM_TIMEOUT_MS')
})

test.each([
  ['auth.jwtSecret', true],
  ['apiKeys.0.key', true],
  ['upstream.apiKey', true],
  ['upstream.anonKey', true],
  ['apiKeys.0.name', false],
  ['upstream.baseUrl', false],
  ['no.such.option', false],
])('%s is secret: %s', (option, expected) => {
  expect(isSecret(option.split('.').map(step => (step === '0' ? 0 : step)))).toBe(expected)
})

/** Loads and prints a configuration; any error but a ProblemsError fails the test. */
function loadOrComplain(sources: ConfigSources): void {
  try {
    printConfig(loadConfig(sources))
  } catch (error) {
    if (!(error instanceof ProblemsError)) throw error
    expect(error.problems.length).toBeGreaterThan(0)
    expect(error.message).not.toContain('undefined')
  }
}

test('any value of any option in code is used or reported as a problem', () => {
  const anything = fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true, maxDepth: 2 })
  fc.assert(
    fc.property(anyOption, anything, ({ path }, value) =>
      loadOrComplain({ cwd: '.', file: false, flags: [{ path, value, origin: 'code' }] }),
    ),
    { numRuns: runs(500) },
  )
})

test('any text for any option in the environment is used or reported as a problem', () => {
  fc.assert(
    fc.property(anyOption, fc.string({ unit: anyCharacter }), ({ variable }, text) =>
      loadOrComplain({ cwd: '.', file: false, env: { [variable]: text } }),
    ),
    { numRuns: runs(500) },
  )
})

test('any value of any option in the file is used or reported as a problem', () => {
  const cwd = folderWith()
  fc.assert(
    fc.property(anyOption, fc.jsonValue({ maxDepth: 3 }), ({ path }, value) => {
      // JSON is YAML.
      const whole = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)
      writeInto(cwd, { 'platform.config.yaml': JSON.stringify(whole) })
      loadOrComplain({ cwd, env: {} })
    }),
  )
})

test('any text in the file is used or reported as a problem', () => {
  const cwd = folderWith()
  const bits = fc.constantFrom(...'{}[]:-,&*!|>%@`"\'#? \n\t', 'port', 'models', 'id', '${', '---', '<<', '1', '\u0000')
  fc.assert(
    fc.property(fc.array(bits, { maxLength: 25 }), text => {
      writeInto(cwd, { 'platform.config.yaml': text.join('') })
      loadOrComplain({ cwd, env: {} })
    }),
    { numRuns: runs(300) },
  )
})
