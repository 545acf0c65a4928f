/** A client for every version of the protocol that gives access to each frame. */
import type { ProtocolVersion } from '../../src/core/json-rpc.js'
import { isStateless } from '../../src/core/json-rpc.js'
import type { Scene } from '../scene.js'
import type { Frame } from './specification.js'

type Headers = Record<string, string>

/** Sends a raw body. */
export const post = (platform: Pick<Scene, 'ask'>, body: unknown, headers: Headers = {}) =>
  platform.ask('/mcp', {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  })

/** The body that begins a session. */
export const initialize = (version: string, capabilities: object = {}, name = 'by hand') => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: version, capabilities, clientInfo: { name, version: '1' } },
})

/** Begins a session. */
export async function session(platform: Pick<Scene, 'ask'>, version = '2025-11-25', capabilities: object = {}) {
  const answer = await post(platform, initialize(version, capabilities))
  const headers = { 'mcp-session-id': answer.headers.get('mcp-session-id') ?? '' }
  const frame = (await framesIn(answer).next()).value as { result: { protocolVersion: string } }
  return { headers, frame }
}

const PREFIX = 'io.modelcontextprotocol'

/** The body and headers of a request without a session. */
export function stateless(method: string, params: Frame, capabilities: object = {}) {
  const version = '2026-07-28'
  const own = {
    [`${PREFIX}/protocolVersion`]: version,
    [`${PREFIX}/clientCapabilities`]: capabilities,
    [`${PREFIX}/logLevel`]: 'debug',
  }
  const name = params.name ?? params.uri
  return {
    headers: {
      ...{ 'mcp-protocol-version': version, 'mcp-method': method },
      ...(name !== undefined && { 'mcp-name': String(name) }),
    } as Headers,
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { ...(params._meta as object), ...own } } },
  }
}

/** The text of each event of a stream, as it arrives. */
export async function* eventsIn(answer: Response): AsyncGenerator<string, void> {
  let text = ''
  for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const events = (text + part).split('\n\n')
    text = events.pop() ?? ''
    yield* events
  }
}

/** Each frame of an answer, as it arrives. */
export async function* framesIn(answer: Response): AsyncGenerator<Frame> {
  if (!answer.headers.get('content-type')?.includes('event-stream')) {
    yield (await answer.json()) as Frame
    return
  }
  for await (const event of eventsIn(answer)) {
    const [, data] = /^data: (.*)$/m.exec(event) ?? []
    if (data !== undefined) yield JSON.parse(data)
  }
}

/** The client's answers to requests of the server. */
const answers: Readonly<Record<string, Frame>> = {
  'elicitation/create': { action: 'accept', content: {} },
  'sampling/createMessage': { role: 'assistant', model: 'by hand', content: { type: 'text', text: 'Yes.' } },
  'roots/list': { roots: [] },
}

/** A client that declares every capability and answers the server's requests. */
export async function clientByHand(platform: Scene, version: ProtocolVersion) {
  const capabilities = { elicitation: {}, sampling: {}, roots: {} }
  return isStateless(version)
    ? { call: callWithout(platform, capabilities), begun: undefined, headers: {} }
    : clientInSession(platform, await session(platform, version, capabilities))
}

function clientInSession(platform: Scene, { headers, frame }: Awaited<ReturnType<typeof session>>) {
  async function call(method: string, params: Frame): Promise<readonly Frame[]> {
    const frames: Frame[] = []
    const answer = await post(platform, { jsonrpc: '2.0', id: 1, method, params }, headers)
    for await (const frame of framesIn(answer)) {
      frames.push(frame)
      const asked = 'id' in frame && typeof frame.method === 'string' ? frame.method : undefined
      if (asked) await post(platform, { jsonrpc: '2.0', id: frame.id, result: answers[asked] }, headers)
    }
    return frames
  }
  return { call, begun: frame as Frame, headers }
}

/** Calls again with the input that the result requests. */
function callWithout(platform: Scene, capabilities: object) {
  return async function call(method: string, params: Frame): Promise<readonly Frame[]> {
    const { body, headers } = stateless(method, params, capabilities)
    const frames: Frame[] = []
    for await (const frame of framesIn(await post(platform, body, headers))) frames.push(frame)
    const { inputRequests, requestState } = (frames.at(-1)?.result ?? {}) as Frame
    if (inputRequests === undefined) return frames
    const asked = Object.entries(inputRequests as Readonly<Record<string, { readonly method: string }>>)
    const inputResponses = Object.fromEntries(asked.map(([name, question]) => [name, answers[question.method]]))
    return [...frames, ...(await call(method, { ...params, inputResponses, requestState }))]
  }
}
