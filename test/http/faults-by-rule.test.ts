import { expect, onTestFinished, test } from 'vitest'
import { type Exchange, type PacedBody, type Reply, sourceOf } from '../../src/core/exchange.js'
import type { Fault } from '../../src/core/fault.js'
import { unpaced } from '../../src/core/pace.js'
import { createChances, createFaultCalls, createFaults } from '../../src/faults/index.js'
import { createEntrance } from '../../src/http/entrance.js'
import { listen } from '../../src/http/listen.js'
import { requestChat } from './answers.js'
import { journalOfAll, lineOver } from './emulating.js'

const paced: PacedBody = {
  head: 'data: {"a":1}\n\n',
  before: 'data: {"b":',
  pieces: ['2', '3'],
  after: '}\n\n',
  tail: 'data: [DONE]\n\n',
  pace: { ...unpaced, firstTokenMs: 1, tokensPerSecond: 500 },
}
const atOnce = Buffer.from('data: {"a":1}\n\ndata: {"b":2}\n\ndata: {"b":3}\n\ndata: [DONE]\n\n')

/** A line whose only endpoint answers with a rule that has this fault. */
async function lineWith(body: Reply['body'], fault: Fault, onSent?: () => void) {
  const contentType = typeof body === 'string' ? 'application/json' : 'text/event-stream'
  const reply: Reply = {
    kind: 'reply',
    status: 200,
    contentType,
    body,
    answeredBy: { kind: 'rule', title: 'rule "x"', place: 'rules[0]' },
    fault,
    ...(onSent && { onSent }),
  }
  const journal = journalOfAll()
  const journaled = new Promise<Exchange>(resolve => journal.follow(resolve))
  const endpoint = { method: 'POST', path: '/v1/chat/completions', access: 'anyone', takesBody: true } as const
  const parts = { header: true, random: [], seed: 0, calls: createFaultCalls(), chances: createChances() }
  const line = lineOver({
    endpoint: { ...endpoint, reply: () => reply },
    journal,
    identify: () => ({ kind: 'service' }),
    faults: createFaults(parts),
  })
  const listener = await listen(createEntrance({ line: line.accept, app: () => {} }), { host: '127.0.0.1', port: 0 })
  onTestFinished(() => listener.stop(0))
  const received = await requestChat({ url: `http://127.0.0.1:${listener.port}`, apiKey: 'any' }, { isStream: true })
  return { ...received, outcome: (await journaled).outcome }
}

test.each([
  ['unpaced', atOnce],
  ['paced', paced],
])("a rule's fault cuts its stream, and the journal names both: %s", async (_name, body) => {
  const { text, isWhole, outcome } = await lineWith(body, { cutAfterChunks: 2 })
  expect({ text, isWhole }).toEqual({ text: 'data: {"a":1}\n\ndata: {"b":2}\n\n', isWhole: false })
  expect(sourceOf(outcome)).toBe('rule "x" + fault cutAfterChunks=2')
  expect(outcome).toMatchObject({ complete: false })
})

test('the status of a fault replaces the reply of its rule', async () => {
  const { status, text, outcome } = await lineWith('{}', { status: 503, message: 'Later.' })
  expect({ status, text }).toEqual({ status: 503, text: '{"error":"Later."}' })
  expect(outcome).toMatchObject({ status: 503, error: 'Later.' })
  expect(sourceOf(outcome)).toBe('fault status=503 (rule "x")')
})

test("a rule's fault with chance 0 never happens, and with chance 1 always does", async () => {
  expect((await lineWith('{}', { status: 503, chance: 0 })).status).toBe(200)
  expect((await lineWith('{}', { status: 503, chance: 1 })).status).toBe(503)
})

test('a lent buffer is given back when the whole stream has been sent, and not when it was cut', async () => {
  const lend = async (fault: Fault) => {
    let givenBack = 0
    const { text } = await lineWith(Buffer.from(atOnce), fault, () => givenBack++)
    return { text, givenBack }
  }
  expect(await lend({ stallAfterChunks: 1, stallMs: 20 })).toEqual({ text: atOnce.toString(), givenBack: 1 })
  expect((await lend({ cutAfterChunks: 1 })).givenBack).toBe(0)
})
