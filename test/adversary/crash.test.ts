import { expect, test } from 'vitest'
import { runInProcess } from '../command.js'
import { hello, platformWith } from '../scene.js'
import { adversary, verdictsIn } from './apps.js'

/** What a worker writes down, and when. */
type Journal = 'none' | 'after' | 'before, with a key' | 'before, without'

/** A worker that writes a text with the model for each order, and sends it. It tries a call twice. */
const worker = (journal: Journal, orders: readonly string[]) => `
import { DatabaseSync } from 'node:sqlite'
const { OPENAI_BASE_URL, PLATFORM_BASE_URL, OPENAI_API_KEY, STANDIN_ADVERSARY_RUN } = process.env
const db = new DatabaseSync(STANDIN_ADVERSARY_RUN + '.db')
db.exec('create table if not exists done (name text primary key, text text)')
const journal = '${journal}'
const write = (name, text) => db.prepare('insert or replace into done values (?, ?)').run(name, text)
const read = name => db.prepare('select text from done where name = ?').get(name)?.text

async function send(url, body, key) {
  const headers = { authorization: 'Bearer ' + OPENAI_API_KEY, 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) }
  for (let left = 1; ; left--) {
    try {
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
      if (!response.ok) process.exit(1)
      return await response.text()
    } catch (error) {
      if (left === 0) throw error
    }
  }
}

async function ask(order) {
  const text = await send(OPENAI_BASE_URL + '/chat/completions', { model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content: order }] })
  return text.split('\\n').flatMap(line => line.startsWith('data: {') ? [JSON.parse(line.slice(6)).choices[0]?.delta?.content ?? ''] : []).join('')
}

for (const order of ${JSON.stringify(orders)}) {
  if (journal !== 'none' && read('sent ' + order)) continue
  const text = (journal.startsWith('before') && read('text ' + order)) || await ask(order)
  if (journal.startsWith('before')) write('text ' + order, text)
  if (journal === 'before, without') write('sent ' + order, 'yes')
  await send(PLATFORM_BASE_URL + '/orders', { order, text }, journal === 'before, with a key' ? 'order ' + order : undefined)
  write('sent ' + order, 'yes')
}
`

/** The verdicts by fault and call, with the number of requests of the report's line. */
async function verdictsOn(journal: Journal, orders: readonly string[]): Promise<readonly string[]> {
  const end = await adversary(worker(journal, orders), { flags: ['--json', '--kill', '--faults', 'lostAnswer'] })
  return verdictsIn(end).map(({ code, fault, call }) => `${fault} at ${call.title.slice('POST '.length)}: ${code}`)
}

test('a worker without a journal does everything twice after a crash', { timeout: 120_000 }, async () => {
  expect(await verdictsOn('none', ['tea', 'milk'])).toEqual([
    'lostAnswer at /orders: done-twice',
    'kill-before at /orders: paid-again',
    'kill-after at /orders: done-twice',
    'kill-after at /orders: paid-again',
    'kill-before at /v1/chat/completions "milk": done-twice',
    'kill-before at /v1/chat/completions "milk": paid-again',
    'kill-stream at /v1/chat/completions "milk": done-twice',
    'kill-stream at /v1/chat/completions "milk": paid-again',
    'lostAnswer at /orders: done-twice',
    'kill-before at /orders: done-twice',
    'kill-before at /orders: paid-again',
    'kill-after at /orders: done-twice',
    'kill-after at /orders: done-twice',
    'kill-after at /orders: paid-again',
  ])
})

test.each([
  ['after', ['lostAnswer: done-twice', 'kill-before: paid-again', 'kill-after: done-twice', 'kill-after: paid-again']],
  ['before, without', ['lostAnswer: done-twice', 'kill-before: lost']],
  ['before, with a key', []],
] as const)('a worker with a journal %s', { timeout: 120_000 }, async (journal, expected) => {
  const verdicts = await verdictsOn(journal, ['tea'])
  expect(verdicts.map(one => one.replace(' at /orders', ''))).toEqual(expected)
})

test('after a lost answer, a request with the same Idempotency-Key gets the first answer, and nothing happens twice', async () => {
  const platform = await platformWith({ resources: { '/orders': { data: [] } } })
  const order = (key: string) =>
    platform.ask('/orders', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify({ item: 'tea' }),
    })
  await platform.failNext({ lostAnswer: true }, { path: '/orders' })
  await expect(order('a')).rejects.toThrow('fetch failed')
  const again = await order('a')
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  const { id } = (await again.json()) as { id: string }
  expect((await platform.resource('/orders').rows()).map(row => row.id)).toEqual([id])
  await order('b')
  expect(await platform.resource('/orders').rows()).toHaveLength(2)
})

test('a lost answer of a model is journaled with the answer, and lostAnswer cannot be combined with an error', async () => {
  const platform = await platformWith()
  await platform.failNext({ lostAnswer: true })
  await expect(platform.chat(hello)).rejects.toThrow('fetch failed')
  await platform.idle()
  expect(await platform.journal.last()).toMatchObject({
    status: 200,
    complete: false,
    fault: { fault: { lostAnswer: true } },
  })
  await expect(platform.failNext({ lostAnswer: true, status: 503 })).rejects.toThrow(
    'lostAnswer is not possible together with',
  )
})

test('--list prints all faults with their verdicts', async () => {
  const { stdout, code } = await runInProcess(['exec', '--adversary', '--list'])
  expect(stdout).toContain('end: a stream ends normally, without finish_reason and [DONE]\n    truncation-accepted, ')
  expect(stdout).toMatch(/kill-after \(if asked for\): .*\n {4}done-twice, lost, paid-again, stuck/)
  expect(code).toBe(0)
})
