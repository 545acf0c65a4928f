/** Requests whose texts repeat something a hundred thousand times are read, answered and shown in linear time. */
import { expect, test } from 'vitest'
import { platformWith } from '../scene.js'

const repeated = [
  ...['\\', '"', '%25', '\\u0070', '\n', '\r\n', 'data: ', ' ', '\t', '0', '[', ']', '{', '{"a":', '}', ',', '&', '='],
  ...['a=', '://', '@', 'a:b@', 'name="', '-', '--X', 'eyJ', 'sk-', 'password: ', '{{', '<a ', '/*', 'é', 'standin:'],
]

/** What a client can send a text in. */
const bodies: readonly (readonly [path: string, type: string, bodyOf: (text: string) => string])[] = [
  [
    '/v1/chat/completions',
    'application/json',
    text => JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: text }] }),
  ],
  ['/v1/chat/completions', 'application/json', text => text],
  ['/builder/x', 'application/x-www-form-urlencoded', text => text],
  ['/builder/x', 'text/plain', text => text],
  ['/auth/v1/signup', 'application/json', text => JSON.stringify({ email: text, password: text })],
]

/** Less is no harm, whatever the length. */
const HARMLESS_MS = 300

test('a long text takes time in proportion to its length, whatever it repeats, until it is in the journal', async () => {
  const { ask, anonKey } = await platformWith({ rules: [{ on: 'POST /builder/x', reply: { text: 'ok' } }] })

  /** The fastest of three times to send a text in each body, and to read it back from the journal. */
  async function millisecondsFor(text: string): Promise<number> {
    const times: number[] = []
    for (let run = 0; run < 3; run++) {
      const startedMs = performance.now()
      for (const [path, type, bodyOf] of bodies) {
        const headers = { 'content-type': type, apikey: anonKey }
        await (await ask(path, { method: 'POST', headers, body: bodyOf(text) })).text()
        expect((await ask('/__standin/journal?limit=1')).status).toBe(200)
      }
      times.push(performance.now() - startedMs)
      if (times.some(ms => ms < HARMLESS_MS)) break
    }
    return Math.min(...times)
  }

  const slow: string[] = []
  for (const pattern of repeated) {
    const longMs = await millisecondsFor(pattern.repeat(400_000 / pattern.length))
    if (longMs < HARMLESS_MS) continue
    if (longMs > 8 * (await millisecondsFor(pattern.repeat(100_000 / pattern.length)))) slow.push(pattern)
  }
  expect(slow).toEqual([])
}, 60_000)
