/** A platform in use, for screenshots: users, rules, and requests that succeeded or failed. */
import { type Platform, type PlatformOptions, startPlatform } from '../../src/index.js'

const ada = { email: 'ada@example.com', password: 'correct horse battery' }
const grace = { email: 'grace@example.com', password: 'another battery' }

const rules = [
  {
    name: 'opening hours',
    when: { user: { contains: 'open' } },
    reply: { text: 'We are open from nine to six, Monday to Saturday. On Sundays we answer mail only.' },
    pace: { firstTokenMs: 120, tokensPerSecond: 40 },
  },
  {
    name: 'refund policy',
    when: { user: '/refund|send .* back/i' },
    reply: { text: 'You can return any unused item within thirty days of delivery for a full refund.' },
    pace: { firstTokenMs: 60, tokensPerSecond: 90 },
  },
  {
    name: 'looks for an order',
    when: { user: '/\\border\\b/i', tools: ['find_order'], toolResult: false },
    reply: { toolCalls: [{ name: 'find_order', arguments: { number: 'A-1042' } }] },
  },
  {
    name: 'tells of an order',
    when: { toolResult: { tool: 'find_order' } },
    reply: { text: 'Your order A-1042 left our house on Monday. It should be with you on Thursday.' },
    pace: { firstTokenMs: 40, tokensPerSecond: 60 },
  },
  {
    name: 'too busy',
    when: { user: 'everything at once' },
    reply: { fault: { status: 429, retryAfter: 2 } },
    times: 1,
  },
]

/** The tool that the shop's assistant may call. */
const findOrder = {
  type: 'function',
  function: {
    name: 'find_order',
    description: 'Finds an order by its number.',
    parameters: { type: 'object', properties: { number: { type: 'string' } }, required: ['number'] },
  },
} as const

/** Starts the platform and sends all requests. */
export async function startShowcase(options: PlatformOptions = {}): Promise<Platform> {
  const platform = await startPlatform({ users: [ada, grace], rules, seed: 7, ...options })
  await signIn(platform)
  await askMuch(platform)
  return platform
}

async function signIn({ authUrl, anonKey }: Platform): Promise<void> {
  const post = (path: string, body: object) => {
    const headers = { apikey: anonKey, 'content-type': 'application/json' }
    return fetch(`${authUrl}/auth/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  }
  for (const person of [ada, grace]) await post('token?grant_type=password', person)
  await post('recover', { email: grace.email })
}

/** Sends what the apps of a small shop send in a moment. */
export async function askMuch({ url, apiKey, failNext }: Platform): Promise<void> {
  const get = async (path: string, bearer?: string) => {
    const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }
    await (await fetch(url + path, { headers })).text()
  }
  const chat = async (text: string, more: object = {}) => {
    const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [system, { role: 'user', content: text }], ...more })
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
    await (await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })).text()
  }
  const stream = { stream: true, stream_options: { include_usage: true } }
  await get('/health')
  await get('/v1/models', apiKey)
  await chat('When are you open?', stream)
  await get('/v1/model', apiKey)
  await chat('Where is my order A-1042?', { tools: [findOrder] })
  await chat('Can I send the green one back?', stream)
  await chat('Tell me everything at once.')
  await get('/v1/models', 'sk-local-AKeyFromYesterday')
  await failNext({ status: 503, message: 'The model is loading.' })
  await chat('Do you gift wrap?', stream)
  await chat('Do you have it in blue, too?')
  await get('/v1/models')
  await Promise.all([chat('Until when are you open today?', stream), chat('And a refund for shoes?', stream)])
}

const system = { role: 'system', content: 'You answer for a small shop. Be brief and kind.' }
