import { expect, test } from 'vitest'
import { developmentApiKey, developmentSecret } from '../../../src/core/secrets.js'
import { redactionRules } from '../../../src/platform/config/load.js'
import { folderWith } from '../../command.js'
import { loadConfig } from '../../configuration.js'

function rulesOf(yaml: string) {
  return redactionRules(loadConfig({ cwd: folderWith({ 'platform.config.yaml': yaml }) }).config)
}

test('names stay names, and patterns become regular expressions, with their flags and names', () => {
  const yaml = `recordings: { redact: [x-tenant, '/cus_\\d+/i', { name: path, pattern: '/a\\/b/' }] }\n`
  expect(rulesOf(yaml).names).toEqual(['x-tenant'])
  expect(rulesOf(yaml).patterns).toEqual([
    { name: 'secret', pattern: /cus_\d+/i },
    { name: 'path', pattern: /a\/b/ },
  ])
})

test('the word emails among the patterns makes email addresses secret', () => {
  expect(rulesOf('recordings: { redact: [emails, /x/] }\n')).toMatchObject({
    emails: true,
    patterns: [{ name: 'secret', pattern: /x/ }],
  })
  expect(rulesOf('').emails).toBe(false)
})

test('configured secrets and API keys are redacted; unset ones are not', () => {
  const known = rulesOf('upstream: { apiKey: live-1 }\nauth: { jwtSecret: 0123456789abcdef0123456789abcdef }\n').known
  const values = known.map(({ value }) => value)
  expect(values).toEqual(expect.arrayContaining(['live-1', developmentApiKey, '0123456789abcdef0123456789abcdef']))
  expect(values).not.toContain('')
})

test('the public development secret is not redacted', () => {
  expect(rulesOf('').known.map(({ value }) => value)).not.toContain(developmentSecret)
})
