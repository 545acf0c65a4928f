/** Three apps with seeded bugs, each with a mended form of itself. */
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { type End, type Files, runInProcess, start, type Until } from '../command.js'

const installed = (name: string) => pathToFileURL(createRequire(import.meta.url).resolve(name))

/** A story from OpenAI's SDK. */
const openaiApp = (isMended: boolean) => `
import OpenAI from '${installed('openai')}'
const openai = new OpenAI({ maxRetries: ${isMended ? 2 : 0} })

async function ask(messages) {
  const controller = new AbortController()
  const stream = await openai.chat.completions.create({ model: 'gpt-4o-mini', stream: true, messages }, { signal: controller.signal })
  const timer = ${isMended} ? setTimeout(() => controller.abort(), 1000) : undefined
  let text = ''
  let reason
  for await (const { choices: [choice] } of stream) {
    text += choice?.delta?.content ?? ''
    reason = choice?.finish_reason ?? reason
  }
  clearTimeout(timer)
  if (${isMended} && reason !== 'stop') throw new Error('This is not the whole answer: ' + reason)
  return text
}

const patiently = async work => {
  for (let left = ${isMended ? 2 : 0}; ; left--) try { return await work() } catch (error) { if (left === 0 || error.status) throw error }
}

await patiently(() => ask([{ role: 'user', content: 'Tell me a story.' }]))
`

/** An agent with the AI SDK: the model orders a pizza with a tool, then says so. */
const aiSdkApp = (isMended: boolean) => `
import { generateText, jsonSchema, stepCountIs, streamText, tool } from '${installed('ai')}'
import { createOpenAICompatible } from '${installed('@ai-sdk/openai-compatible')}'
const { OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey, PLATFORM_BASE_URL: url } = process.env
const model = createOpenAICompatible({ name: 'standin', baseURL, apiKey })('gpt-4o-mini')
const headers = { authorization: 'Bearer ' + apiKey, 'content-type': 'application/json' }
const inputSchema = jsonSchema({ type: 'object', properties: { kind: { type: 'string' } }, required: ['kind'] })
const execute = async order => {
  const response = await fetch(url + '/orders', { method: 'POST', headers, body: JSON.stringify(order) })
  if (!response.ok) throw new Error('No order: ' + response.status)
  return 'ordered'
}
const order = () => generateText({
  model, prompt: 'Order a pizza.', tools: { order: tool({ inputSchema, execute }) }, stopWhen: stepCountIs(3), maxRetries: ${isMended ? 2 : 0},
})
const whole = reason => {
  if (reason !== 'stop') throw new Error('This is not the whole answer: ' + reason)
}
if (${isMended}) whole((await order()).finishReason)
else await order().catch(order)

let failure
const onError = ({ error }) => {
  failure = error
}
const joke = streamText({ model, prompt: 'Tell me a joke.', maxRetries: 2, onError })
let text = ''
for await (const piece of joke.textStream) text += piece
if (${isMended} && failure) throw failure
if (${isMended}) whole(await joke.finishReason)
`

/** A client without an SDK. */
const fetchApp = (isMended: boolean) => `
const { OPENAI_BASE_URL, OPENAI_API_KEY } = process.env
const pause = ms => new Promise(resolve => setTimeout(resolve, ms))

async function answer(signal) {
  const response = await fetch(OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + OPENAI_API_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content: 'Tell me a poem.' }] }),
    signal,
  })
  if (!response.ok) throw Object.assign(new Error('status ' + response.status), response, {
    status: response.status, waitMs: Number(response.headers.get('retry-after') ?? 0) * 1000,
  })
  let body = ''
  for await (const bytes of response.body.pipeThrough(new TextDecoderStream())) body += bytes
  const isDone = data => data === '[DONE]'
  const data = body.split('\\n\\n').filter(Boolean).map(event => event.slice('data: '.length))
  if (!${isMended}) data.pop()
  const choices = data.filter(one => ${!isMended} || !isDone(one)).map(one => JSON.parse(one).choices[0])
  if (${isMended} && !choices.some(choice => choice?.finish_reason === 'stop')) throw new Error('not whole')
  return choices.map(choice => choice?.delta?.content ?? '').join('')
}

async function ask() {
  const controller = new AbortController()
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => {
      if (${isMended}) controller.abort()
      reject(new Error('late'))
    }, 3000)
  })
  try {
    return await Promise.race([answer(controller.signal), late])
  } finally {
    clearTimeout(timer)
  }
}

async function patiently(tries) {
  for (let i = 1; ; i++) {
    try {
      return await ask()
    } catch (error) {
      if (i === tries || (${isMended} && [400, 401].includes(error.status))) throw error
      if (${isMended}) await pause(Math.max(error.waitMs ?? 0, 400 * i * i))
    }
  }
}
await patiently(${isMended ? 3 : 8})
process.exit(0)
`

export const apps = { openai: openaiApp, 'AI SDK': aiSdkApp, fetch: fetchApp } as const

const rules = `
- on: POST /orders
  reply: { status: 201, json: { ok: true } }
- when: { user: pizza, toolResult: true }
  reply: { text: 'Your pizza is on its way.' }
- when: { user: pizza }
  reply: { toolCalls: [{ name: order, arguments: { kind: margherita } }] }
`

interface Adversary {
  readonly flags?: readonly string[]
  readonly files?: Files
  readonly until?: Until
}

/** Runs one of the apps below `standin exec --adversary`. It needs a process only for what the app prints, or beside others. */
export function adversary(app: string, { flags = [], files = {}, until }: Adversary = {}): Promise<End> {
  const args = ['exec', '--adversary', ...flags, '--', process.execPath, 'app.mjs']
  const scene = { files: { 'app.mjs': app, 'fixtures/replies/rules.yaml': rules, ...files } }
  if (!until && !flags.includes('--verbose')) return runInProcess(args, scene)
  return start(args, { ...scene, ...(until && { until }) }).ended
}

export interface VerdictLine {
  readonly code: string
  readonly isBug: boolean
  readonly fault: string
  readonly call: { readonly path: string; readonly title: string }
  readonly sentence: string
  readonly requests: readonly { readonly id: string; readonly status: number | null }[]
}

export const verdictsIn = ({ stdout }: Pick<End, 'stdout'> = { stdout: '' }): readonly VerdictLine[] =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))
