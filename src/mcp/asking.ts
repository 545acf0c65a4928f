/** A call in a session that asks the client before it answers: the questions and the result share one stream of events. */
import type { OpenBody } from '../core/exchange.js'
import { failureFrame, RpcError, type RpcId, type RpcRequest, type RpcResponse, rpcCodes } from '../rpc/frames.js'
import type { Asking } from './calls.js'
import type { Context } from './context.js'
import { type CallMessages, spoiled } from './deliver.js'
import { keepWaiting, type Session, type WaitingCall } from './sessions.js'
import { type EventStream, openBody } from './streams.js'

/** Continues a call once the client has answered. */
type GoOn = (answers: Asking['answers'], ruleAnswer: Asking['ruleAnswer']) => Promise<Asking | CallMessages>

/** The body of the answer. The call continues when the client disconnects, since it may resume the stream. */
export function askingBody(first: Asking, request: RpcRequest, context: Context, goOn: GoOn): OpenBody {
  const session = context.session as Session
  return openBody(sink => {
    const stream = context.server.sessions.stream(session)
    const call = waitingCall(request.id)
    keepWaiting(session, call)
    const detach = stream.attach(sink)
    void converse(first, call, stream, goOn).finally(() => session.waiting.delete(call))
    return detach
  })
}

interface OpenCall extends WaitingCall {
  /** Resolves to the answer to the question with this id. */
  answerTo(id: RpcId): Promise<RpcResponse>
  /** Settles when the call is cancelled. */
  readonly cancelled: Promise<'cancelled'>
}

function waitingCall(requestId: RpcId): OpenCall {
  const open = new Map<unknown, (response: RpcResponse) => void>()
  let cancel = () => {}
  const cancelled = new Promise<'cancelled'>(resolve => {
    cancel = () => resolve('cancelled')
  })
  return {
    ...{ requestId, cancel, cancelled },
    answerTo: id => new Promise(resolve => open.set(id, resolve)),
    take(response) {
      const answered = open.get(response.id)
      open.delete(response.id)
      answered?.(response)
    },
  }
}

async function converse(first: Asking, call: OpenCall, stream: EventStream, goOn: GoOn): Promise<void> {
  const ended = (async () => {
    let next: Asking | CallMessages = first
    while ('kind' in next)
      next = await goOn({ ...next.answers, ...(await answersTo(next, call, stream)) }, next.ruleAnswer)
    return next
  })().catch(
    (error: unknown): CallMessages => ({
      ...{ before: [], response: failureFrame(call.requestId, asRpcError(error)), by: undefined },
    }),
  )
  const messages = await Promise.race([ended, call.cancelled])
  if (messages !== 'cancelled') sendAll(messages, stream)
  stream.end()
}

function sendAll({ before, response, by }: CallMessages, stream: EventStream): void {
  for (const frame of before) stream.send(frame, text => spoiled(text, by))
  if (by?.protocolFault === 'cut-stream') stream.cut()
  stream.send(response, text => spoiled(text, by))
}

const asRpcError = (error: unknown) =>
  error instanceof RpcError ? error : new RpcError(rpcCodes.internal, 'Internal error')

let questionsSent = 0

/** Sends the questions of a round, and waits for all answers. */
async function answersTo({ round }: Asking, call: OpenCall, stream: EventStream): Promise<Asking['answers']> {
  const all = Object.entries(round).map(async ([name, question]) => {
    const id = `standin-${++questionsSent}`
    const answer = call.answerTo(id)
    stream.send({ jsonrpc: '2.0', id, ...question })
    return [name, answerIn(await answer, question.method)] as const
  })
  return Object.fromEntries(await Promise.all(all))
}

function answerIn(response: RpcResponse, method: string): unknown {
  if ('result' in response) return response.result
  const { code, message } = response.error
  throw new RpcError(rpcCodes.internal, `The client refused ${method}: ${message} (${code})`)
}
