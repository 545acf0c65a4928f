import { expect, test } from 'vitest'
import { createColors } from '../../src/cli/output.js'
import { requestRows } from '../../src/cli/request-log.js'
import { knownPaths } from '../../src/journal/advice.js'
import { assertReceived } from '../../src/test-runner.js'
import { folderWith } from '../command.js'
import { answerOf, ask, sentences, signIn, signUp, userOf } from '../keys/people.js'
import { hello, platformWith, type Scene } from '../scene.js'
import { WRONG_LOGIN } from '../sentences.js'

test('every path that is suggested for an unknown one is served', async () => {
  const platform = await platformWith()
  for (const path of knownPaths) {
    const { status } = await platform.ask(path, { headers: { apikey: platform.anonKey } })
    expect({ path, status }).not.toMatchObject({ status: 404 })
  }
  expect(knownPaths).toContain('/v1/chat/completions')
  expect((await platform.chat(hello)).status).toBe(200)
})

/** The log line of the last request, and the advice below it. */
async function lastLine({ ask }: Scene) {
  const { data } = (await (await ask('/__standin/journal?limit=1')).json()) as { data: [never] }
  const [line = '', advice = ''] = requestRows(data[0], createColors(false))
  return { line: line.trim(), advice: advice.trim() }
}

const unknownModel = JSON.stringify({ ...hello, model: 'gpt-9' })

test.each([
  ['POST', '/v1/responses', '{}', /no \/v1\/responses.*chat\.completions.*useResponsesApi: false/],
  ['GET', '/auth/v1/authorize?provider=github', null, /auth\.external: \{ github: \{\} \}/],
  ['POST', '/v1/chat/completions', unknownModel, /Add it to the option models/],
])('the advice on %s %s is in the journal, below its log line and in the message of a failed test', async (...row) => {
  const [method, path, body, expected] = row
  const platform = await platformWith()
  await platform.ask(path, { method, body, headers: { 'content-type': 'application/json' } })
  const { advice } = (await platform.journal.waitFor({})) ?? {}
  expect(advice).toMatch(expected)
  expect((await lastLine(platform)).advice).toBe(`→ ${advice}`)
  await expect(assertReceived(platform, '/health')).rejects.toThrow(`\n    → ${advice}`)
})

test.each(['fail', 'record'] as const)(
  'with onMiss %s, a path that is never sent to the live platform gets no advice to record it',
  async onMiss => {
    const upstream = { baseUrl: 'http://127.0.0.1:9', apiKey: 'sk-live' }
    const platform = await platformWith({ mode: 'replay', upstream, recordings: { dir: folderWith(), onMiss } })
    const refused = await platform.ask('/b/..%2fetc')
    expect([refused.status, await refused.json()]).toEqual([404, { error: 'Not found.', path: '/b/..%2fetc' }])
    const { line, advice } = await lastLine(platform)
    expect(line).toContain('are never sent to the live platform')
    expect(advice).toBe('')
  },
)

test.each([
  ['/v1/models', null, 'OPENAI_API_KEY'],
  ['/api/projects', null, 'OPENAI_API_KEY'],
  ['/api/v1', null, 'SUPABASE_ANON_KEY'],
  ['/api/v1/projects', null, 'SUPABASE_ANON_KEY'],
  ['/api/v1', 'sk-of-nobody', 'SUPABASE_ANON_KEY'],
  ['/v1/models', 'sk-of-nobody', 'OPENAI_API_KEY'],
])('the advice on a request to %s with the key %s names a credential that works there', async (path, key, expected) => {
  const reply = { json: [] }
  const platform = await platformWith({
    rules: [
      { on: 'GET /api/projects', reply },
      { on: 'GET /api/v1/projects', reply },
    ],
  })
  expect((await platform.ask(path, { bearer: key })).status).toBe(401)
  const { advice } = await lastLine(platform)
  expect(advice.match(/\b[A-Z]+_[A-Z_]+KEY\b/g)).toEqual([expected])
  const opening = expected === 'OPENAI_API_KEY' ? platform.apiKey : platform.anonKey
  expect((await platform.ask(path, { bearer: opening })).status).toBe(200)
})

test('the advice on a key of the wrong kind follows the configured access', async () => {
  const platform = await platformWith({ access: { health: ['user'] } })
  expect((await platform.ask('/health')).status).toBe(401)
  const { line, advice } = await lastLine(platform)
  expect(line).toMatch(/Send a user token\.$/)
  expect(advice).toMatch(/standin token prints a user token\.$/)
})

const grace = { email: 'grace@example.com', password: 'correct-horse' }

test('after a wrong password the log line says what is wrong, and the line below it what to do', async () => {
  const platform = await platformWith({ users: [grace] })
  const wrong = { ...grace, password: 'wrong-horse' }
  await expect(signIn(platform, wrong)).rejects.toMatchObject({ message: WRONG_LOGIN })
  const { line, advice } = await lastLine(platform)
  expect(line).toMatch(/ The user has another password\.$/)
  expect(advice).toMatch(/^→ Use a configured user/)
  expect(line + advice).not.toMatch(/horse|grace/)
  await expect(signIn(platform, { ...grace, email: 'nobody@example.com' })).rejects.toThrow()
  expect((await lastLine(platform)).line).toMatch(/This state has no user with that address\.$/)
})

test('the log recognises a token or key of a Standin with another state, and the client gets the usual error', async () => {
  const [here, elsewhere] = [await platformWith(), await platformWith()]
  const ada = await signUp(elsewhere)
  const key = await elsewhere.createKey()
  const another = /Standin with another state, such as that of another folder.* start Standin with that state\.$/
  expect(await answerOf(here, ada.token)).toBe(sentences.ended)
  expect((await lastLine(here)).line).toMatch(another)
  expect(await userOf(here, ada.token)).toBe('403 user_not_found')
  expect((await lastLine(here)).line).toMatch(another)
  expect(await answerOf(here, key)).toBe(sentences.unknownKey)
  expect((await lastLine(here)).line).toMatch(/checksum is valid.* with standin key create, or start Standin/)
  expect(await (await ask(here, key)).json()).toEqual({ error: sentences.unknownKey })
  for (const other of ['sk-of-somebody-else', `${key.slice(0, -1)}!`]) {
    await ask(here, other)
    expect((await lastLine(here)).line).not.toMatch(another)
  }
})

test('the log recognises the development key when the configuration replaces it', async () => {
  const { apiKey } = await platformWith()
  const platform = await platformWith({ apiKeys: [{ name: 'mine', key: 'sk-mine' }] })
  await ask(platform, apiKey)
  expect((await lastLine(platform)).line).toMatch(
    /It is the development key\. Send one of the configuration, or the one that Standin printed when it started\.$/,
  )
})
