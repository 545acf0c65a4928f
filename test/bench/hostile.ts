/**
 * `npm run bench:hostile [part of a name]`: sends hostile requests one after another and prints for each the status, the time it took, and how
 * long the event loop of the built command was blocked at most. The limit is 100 ms per request; no test depends on it, because everything
 * takes longer on a busy machine.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { developmentApiKey, developmentPublishableKey } from '../../src/core/secrets.js'

const cli = path.join(import.meta.dirname, '../../dist/cli.js')
const only = process.argv[2] ?? ''
const PATIENCE_MS = 20_000
const LIMIT_MS = 100

/**
 * Runs inside the command: reports on demand how long the loop was blocked at most since the last time. A separate thread ends the command
 * once the benchmark has ended, even if the loop is blocked forever.
 */
const monitor = `
  import { monitorEventLoopDelay } from 'node:perf_hooks'
  import { Worker } from 'node:worker_threads'
  const delay = monitorEventLoopDelay({ resolution: 2 })
  delay.enable()
  process.channel.unref()
  process.on('message', () => { process.send({ worstMs: delay.count === 0 ? 0 : delay.max / 1e6 - 2 }); delay.reset() })
  const watch = 'setInterval(() => { if (process.ppid !== ' + process.ppid + ') process.kill(process.pid, "SIGKILL") }, 500)'
  new Worker(watch, { eval: true, execArgv: [] }).unref()
`

interface Hostile {
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Text is sent unchanged. */
  readonly body?: unknown
}

const CHAT = '/v1/chat/completions'
const hello = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] }
const saying = (content: unknown, more: object = {}) => ({ ...hello, messages: [{ role: 'user', content }], ...more })
const times = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const letters = (count: number) => {
  let seed = 1
  return times(count, () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return String.fromCharCode(97 + ((seed >>> 16) % 26))
  }).join('')
}
const MEGABYTE = 1_000_000
const schema = (schema: unknown) =>
  saying('hello', { response_format: { type: 'json_schema', json_schema: { name: 'wanted', schema } } })
const doubling = (keyword: string) => {
  const next = (i: number) => ({ $ref: `#/$defs/s${i + 1}` })
  const defs = Object.fromEntries(times(40, i => [`s${i}`, { [keyword]: [next(i), next(i)] }]))
  return { $defs: { ...defs, s40: { type: 'string' } }, $ref: '#/$defs/s0' }
}
const tools = (count: number) =>
  times(count, i => ({ type: 'function', function: { name: `tool_${i}`, parameters: { type: 'object' } } }))
const withHole = (body: object, hole: string) => JSON.stringify(body).replace('"HOLE"', hole)
const rules = (count: number) => times(count, i => ({ when: { user: `word ${i}` }, reply: { text: `reply ${i}` } }))

/** A rule that is active for the next request. */
const ruled = (rule: object, body: unknown, more: Hostile = {}): readonly Hostile[] => [
  { path: '/__standin/replies', body: rule },
  { ...more, body },
  { path: '/__standin/replies', method: 'DELETE' },
]

/** A body for a custom path, with a rule that reads it. */
const echoed = (body: string, type = 'application/json') =>
  ruled({ on: 'POST /echo', when: { body: { n: 1 } }, reply: { text: '{{ body.n }}' } }, body, {
    ...{ path: '/echo', headers: { 'content-type': type } },
  })

/** An MCP request without a session. */
function called(
  method: string,
  params: { readonly name?: string; readonly uri?: string; readonly arguments?: object },
): Hostile {
  const version = '2026-07-28'
  const prefix = 'io.modelcontextprotocol'
  const _meta = { [`${prefix}/protocolVersion`]: version, [`${prefix}/clientCapabilities`]: {} }
  return {
    path: '/mcp',
    headers: { 'mcp-protocol-version': version, 'mcp-method': method, 'mcp-name': params.name ?? params.uri ?? '' },
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
  }
}

/** What a pattern that reads twice would read for ever; the journal, which is asked for, looks for secrets in it. */
const repeated = [
  ...['\\', '"', '%25', '\\u0070', '\n', '\r\n', 'data: ', ' ', '\t', '0', '[', ']', '{', '{"a":', '}', ',', '&', '='],
  ...['a=', '://', '@', 'a:b@', 'name="', '-', '--X', 'eyJ', 'sk-', 'password: ', '{{', '<a ', '/*', 'é', 'standin:'],
]
const repeating = Object.fromEntries(
  repeated.map((part): readonly [string, readonly Hostile[]] => [
    `400 kB of ${JSON.stringify(part)}`,
    [{ body: saying(part.repeat(400_000 / part.length)) }, { path: '/__standin/journal?limit=1', method: 'GET' }],
  ]),
)

const hostile: Readonly<Record<string, Hostile | readonly Hostile[]>> = {
  'a harmless request, for comparison': { body: hello },
  'tools nested 6,000 levels deep, streamed': {
    body: withHole(
      saying('x', { stream: true, tools: [{ type: 'function', function: { name: 'f', parameters: 'HOLE' } }] }),
      nested(6000),
    ),
  },
  'a schema nested 1,000 levels deep': { body: withHole(schema('HOLE'), nested(1000)) },
  '4 MB of opening brackets': { body: '['.repeat(4 * MEGABYTE) },
  '1,300,000 empty arrays': {
    body: withHole(saying('x', { metadata: { a: 'HOLE' } }), `[${'[],'.repeat(1_300_000)}[]]`),
  },
  '100,000 messages': { body: { ...hello, messages: times(100_000, () => hello.messages[0]) } },
  '5,000 tool results': {
    body: {
      ...hello,
      messages: [...hello.messages, ...times(5_000, i => ({ role: 'tool', tool_call_id: `c${i}`, content: '' }))],
    },
  },
  '4,000 tools, streamed': { body: saying('x', { stream: true, tools: tools(4000) }) },
  '29,000 unknown fields': { body: { ...hello, ...Object.fromEntries(times(29_000, i => [`field${i}`, i])) } },
  '29,000 stops': { body: saying('standin:long', { stop: times(29_000, i => `stop${i}`) }) },
  'a prompt of 4 MB of random letters': { body: saying(letters(4 * MEGABYTE)) },
  'a prompt of 4 MB of one letter': { body: saying('a'.repeat(4 * MEGABYTE)) },
  '125,000 magic words': { body: saying('standin:json '.repeat(125_000)) },
  'a magic word of 4 MB': { body: saying(`standin:${'!'.repeat(4 * MEGABYTE)}x`) },
  'n: 128 with top_logprobs: 20 and a long text': {
    body: saying('standin:long', { n: 128, logprobs: true, top_logprobs: 20 }),
  },
  'n: 128 of a prompt of 4 MB': { body: saying(`hello ${'word '.repeat(800_000)}`, { n: 128 }) },
  'a schema whose alternatives double': { body: schema(doubling('anyOf')) },
  'a schema with an endless pattern': {
    body: schema({ type: 'string', pattern: '^(\\w+\\s?)*$', not: { pattern: '^(a|a?)+$' }, minLength: 40 }),
  },
  'a schema with 5,000 unique texts': {
    body: schema({ type: 'array', minItems: 5000, uniqueItems: true, items: { type: 'string' } }),
  },
  'a schema with 9,000 properties': {
    body: schema({ type: 'object', properties: Object.fromEntries(times(9_000, i => [`p${i}`, { type: 'string' }])) }),
  },
  'a JSON object with 4 MB of braces in the prompt': {
    body: saying('{"'.repeat(2 * MEGABYTE), { response_format: { type: 'json_object' } }),
  },
  '1,800 rules': [
    { path: '/__standin/replies', body: rules(1800) },
    { body: hello },
    { path: '/__standin/replies', method: 'DELETE' },
  ],
  'a rule with 6,000 replies': ruled({ when: {}, replies: times(6000, i => ({ text: `reply ${i}` })) }, hello),
  'a rule with 9,000 texts to match': ruled(
    { when: { user: times(9000, i => `word ${i}`) }, reply: { text: 'x' } },
    hello,
  ),
  'a rule with an exponential expression': ruled(
    { when: { user: '/^(a|a)*$/' }, reply: { text: 'x' } },
    saying(`${'a'.repeat(40)}!`),
  ),
  'a rule with a quadratic expression': ruled(
    { when: { user: '/\\s+$/' }, reply: { text: 'x' } },
    saying(`${' '.repeat(MEGABYTE)}!`),
  ),
  'a template that loops': ruled(
    { when: {}, reply: { text: '{% for i in (1..3000) %}{% for j in (1..3000) %}{{ i }}{% endfor %}{% endfor %}' } },
    hello,
  ),
  'a template that repeats a prompt of 4 MB, streamed': ruled(
    { when: {}, reply: { text: '{{ user }}' } },
    saying('word '.repeat(800_000), { stream: true }),
  ),
  ...repeating,
  'an e-mail address of many at signs': {
    ...{ path: '/auth/v1/signup', headers: { apikey: developmentPublishableKey } },
    body: { email: 'a@'.repeat(450_000), password: 'correct horse' },
  },
  'a redirect that is almost on the list': {
    ...{ path: '/auth/v1/recover', headers: { apikey: developmentPublishableKey } },
    body: { email: 'a@example.com', redirect_to: `https://a${'-'.repeat(30_000)}a` },
  },
  'metadata of 300,000 entries': {
    ...{ path: '/auth/v1/signup', headers: { apikey: developmentPublishableKey } },
    body: { email: 'a@example.com', password: 'correct horse', data: { a: times(300_000, () => 1) } },
  },
  'a number of 4,000,000 digits': echoed(`{"n":${'9'.repeat(4 * MEGABYTE)}}`),
  'a form of 400,000 fields': echoed(times(400_000, i => `a${i}`).join('&'), 'application/x-www-form-urlencoded'),
  'an argument name of 4 MB': called('tools/call', { name: 'look', arguments: { ['x'.repeat(4 * MEGABYTE)]: 1 } }),
  'a URI of 1,900 dots': called('resources/read', { uri: `part:${'.'.repeat(1900)}/` }),
  'a query of 15 KB in 7,000 parts': { path: `/__standin/journal?${'a&'.repeat(7000)}` },
  'a pattern of many stars for the journal': {
    path: '/__standin/journal/find',
    body: { path: `/${'*a'.repeat(500)}` },
  },
  'the journal of all that': { path: '/__standin/journal?limit=1000' },
  'a token of 15 KB': { headers: { authorization: `Bearer ${'a.'.repeat(7500)}` }, body: hello },
}

interface Command {
  readonly child: ChildProcess
  readonly url: string
}

async function start(): Promise<Command> {
  const child = spawn(
    process.execPath,
    [
      ...['--import', `data:text/javascript,${encodeURIComponent(monitor)}`, cli],
      ...['dev', '--port', '0', '--json', '--config', 'hostile.config.yaml'],
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      cwd: import.meta.dirname,
      env: { ...process.env, STANDIN_TOKENIZER: 'o200k_base' },
    },
  )
  running.add(child)
  const stdout = child.stdout as Readable
  stdout.setEncoding('utf8')
  let output = ''
  while (!output.includes('\n')) output += (await once(stdout, 'data', { signal: AbortSignal.timeout(PATIENCE_MS) }))[0]
  stdout.resume()
  const { url } = JSON.parse(output.slice(0, output.indexOf('\n'))) as { url: string }
  const command = { child, url }
  await ask(command, { body: hello })
  return command
}

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))

/** `undefined` if the loop is blocked for longer than we wait. */
async function worstMs({ child }: Command): Promise<number | undefined> {
  child.send('worst', () => {})
  const report = once(child, 'message', { signal: AbortSignal.timeout(PATIENCE_MS) })
  return report.then(
    ([{ worstMs }]) => worstMs as number,
    () => undefined,
  )
}

async function ask({ url }: Command, { path = CHAT, method, headers, body }: Hostile): Promise<string> {
  const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  try {
    const response = await fetch(url + path, {
      method: method ?? (sent === undefined ? 'GET' : 'POST'),
      headers: { authorization: `Bearer ${developmentApiKey}`, 'content-type': 'application/json', ...headers },
      signal: AbortSignal.timeout(PATIENCE_MS),
      ...(sent !== undefined && { body: sent }),
    })
    // A paced stream may take long; its beginning is enough.
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) await response.text()
    else await response.body?.cancel()
    return String(response.status)
  } catch (error) {
    return (error as Error).name
  }
}

interface Run {
  readonly statuses: string
  readonly tookMs: number
  readonly blockMs: number
}

async function run(command: Command, requests: readonly Hostile[]): Promise<Run> {
  await worstMs(command)
  // The first tick after a reset only starts the clock.
  await sleep(20)
  const startMs = performance.now()
  const statuses: string[] = []
  for (const request of requests) statuses.push(await ask(command, request))
  const tookMs = performance.now() - startMs
  // For work that is left after the answer.
  await sleep(50)
  return { statuses: statuses.join(' '), tookMs, blockMs: (await worstMs(command)) ?? Number.POSITIVE_INFINITY }
}

let command = await start()

/** The best of three runs if the first exceeds the limit: other processes can only make it longer. */
async function best(requests: readonly Hostile[]): Promise<Run> {
  const runs: Run[] = []
  for (let i = 0; i < 3; i++) {
    runs.push(await run(command, requests))
    const { blockMs = 0, tookMs = 0 } = runs[i] ?? {}
    if (blockMs === Number.POSITIVE_INFINITY || command.child.exitCode !== null) {
      command.child.kill('SIGKILL')
      command = await start()
      break
    }
    if (blockMs <= LIMIT_MS || tookMs > PATIENCE_MS / 2) break
  }
  return runs.reduce((least, other) => (other.blockMs < least.blockMs ? other : least))
}

let worst = 0
for (const [name, requests] of Object.entries(hostile)) {
  if (!name.includes(only)) continue
  const { statuses, tookMs, blockMs } = await best([requests].flat())
  worst = Math.max(worst, blockMs)
  console.log(
    `${blockMs > LIMIT_MS ? '!' : ' '} ${name.padEnd(52)} ${statuses.padEnd(14)} ${tookMs.toFixed(0).padStart(6)} ms  worst block ${blockMs.toFixed(0).padStart(5)} ms`,
  )
}
console.log(`\nThe longest block: ${worst.toFixed(0)} ms.`)
process.exit()
