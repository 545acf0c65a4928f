import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { validatorOf } from '../../../src/check/json-schema.js'
import { readYaml } from '../../../src/check/yaml.js'
import { firstConfig, printConfig } from '../../../src/platform/config/print.js'
import { folderWith } from '../../command.js'
import { loadConfig } from '../../configuration.js'
import { schemaFiles } from '../../schemas.js'

const root = new URL('../../../', import.meta.url)
const inRepository = (name: string) => readFileSync(new URL(name, root), 'utf8')
const defaults = () => loadConfig({ cwd: '.', file: false }).config

test('the platform.config.yaml of the repository is short', () => {
  const text = inRepository('platform.config.yaml')
  expect(text).toBe(firstConfig('.'))
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(25)
})

test('the platform.config.yaml of the repository changes nothing', () => {
  const { config, file } = loadConfig({ cwd: new URL('.', root).pathname })
  expect(file).toMatch(/platform\.config\.yaml$/)
  expect(config).toEqual(defaults())
})

test('the JSON Schema has the meaning and default of each option, allows variables, and forbids unknown options', async () => {
  const schema = JSON.parse((await schemaFiles())['dist/config.schema.json'] ?? '')
  expect(schema.additionalProperties).toBe(false)
  expect(schema.required).toBeUndefined()
  expect(schema.properties.port).toEqual({
    type: ['integer', 'string'],
    minimum: 0,
    maximum: 65535,
    pattern: '\\$\\{',
    default: 4100,
    description: 'Port to listen on; 0 means any free port.',
  })
})

test('the JSON Schema allows a variable wherever the loader does', async () => {
  const schema = JSON.parse((await schemaFiles())['dist/config.schema.json'] ?? '')
  const variable = `\${NAME}`
  const written = {
    host: variable,
    port: variable,
    state: variable,
    version: variable,
    openapi: { file: variable, prefix: variable },
    modes: { '*': variable },
    replies: [variable],
    auth: { jwtSecret: variable },
    apiKeys: [{ name: variable, key: variable }],
    users: [{ id: variable, email: variable }],
    resources: { '/x': { id: { field: variable, as: variable }, only: [variable], access: variable } },
  }
  expect(validatorOf(schema)(written)).toEqual([])
  expect(validatorOf(schema)({ modes: { '*': 'NAME' }, version: 'NAME' })).toHaveLength(2)
  expect(validatorOf(schema)({ access: { chat: 'anyone' } })).toEqual([])
  expect(validatorOf(schema)({ access: { chta: 'anyone' } })).not.toEqual([])
})

test('the printed configuration shows effective values and where each came from', () => {
  const cwd = folderWith({ 'platform.config.yaml': 'port: 5000\n\naccess:\n  chat: [user]\n' })
  const flags = [{ path: ['seed'], value: 7, origin: '--seed' }]
  const loaded = loadConfig({ cwd, env: { STANDIN_HOST: '::1' }, flags })
  const printed = printConfig(loaded)
  expect(printed.split('\n')).toEqual(
    expect.arrayContaining([
      'host: ::1 # STANDIN_HOST',
      'port: 5000 # platform.config.yaml:1',
      'mode: emulate # default',
      'seed: 7 # --seed',
      'access: { chat: [ user ] } # platform.config.yaml:3',
    ]),
  )
  const { value, problems } = readYaml(printed, 'printed')
  expect(problems).toEqual([])
  expect(value).toMatchObject({
    ...loaded.config,
    apiKeys: expect.any(Array),
    users: expect.any(Array),
    auth: expect.any(Object),
  })
})

test('secrets are masked in the printed configuration', () => {
  const secrets = [
    'sk-hush-1',
    'hush-2-that-is-thirty-two-characters',
    'hush-3',
    'hush-4',
    'hush-5',
    'hush-6',
    'hush-7',
  ]
  const [key, jwtSecret, apiKey, anonKey, publishableKey, secretKey, password] = secrets
  const yaml = JSON.stringify({
    apiKeys: [{ name: 'ci', key, revoked: true }],
    auth: { jwtSecret, publishableKey, secretKey },
    users: [{ email: 'ada@example.com', password }],
    state: 'postgres://somebody:hush-8@127.0.0.1/standin',
    upstream: { apiKey, anonKey },
  })
  const printed = printConfig(loadConfig({ cwd: folderWith({ 'platform.config.yaml': yaml }), env: {} }))
  for (const secret of secrets) expect(printed).not.toContain(secret)
  expect(printed).toContain('{ name: ci, key: "********", revoked: true }')
  expect(printed).not.toContain('hush-8')
  expect(printed).toContain('state: postgres://…@127.0.0.1/standin')
  expect(printed.match(/\*{8}/g)).toHaveLength(secrets.length)
})

test('an unset secret is printed as empty', () => {
  expect(printConfig(loadConfig({ cwd: '.', file: false }))).toContain('\n  apiKey: "" # default\n')
})
