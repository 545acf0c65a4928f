/** A call in a session that asks the client before it answers: the questions and the result share one stream of events. */
import type { OpenBody } from '../core/exchange.js'
import { failureFrame, RpcError, type RpcFrame, type RpcRequest, type RpcResponse, rpcCodes } from '../rpc/frames.js'
import type { Asking } from './calls.js'
import type { Context } from './context.js'
import type { CallMessages } from './deliver.js'
import type { Session } from './sessions.js'
import { type EventStream, openBody } from './streams.js'

/** What goes on with a call once the client has answered. */
type GoOn = (answers: Asking['answers'], taken: Asking['taken']) => Promise<Asking | CallMessages>

/** The body of the answer. It goes on whether or not the client stays, as it may take the stream up again. */
export function askingBody(first: Asking, request: RpcRequest, context: Context, goOn: GoOn): OpenBody {
  const { server } = context
  const session = context.session as Session
  const stream = server.sessions.stream(session)
  void converse(first, request, { session, stream, goOn })
  return openBody(sink => stream.attach(sink))
}

interface Conversation {
  readonly session: Session
  readonly stream: EventStream
  readonly goOn: GoOn
}

async function converse(first: Asking, request: RpcRequest, { session, stream, goOn }: Conversation): Promise<void> {
  const key = String(request.id)
  const cancelled = new Promise<'cancelled'>(resolve => session.cancelled.set(key, () => resolve('cancelled')))
  const ended = (async () => {
    let next: Asking | CallMessages = first
    while ('kind' in next)
      next = await goOn({ ...next.answers, ...(await answersTo(next, session, stream)) }, next.taken)
    return [...next.before, next.response]
  })().catch((error: unknown): readonly RpcFrame[] => [failureFrame(request.id, asRpcError(error))])
  const frames = await Promise.race([ended, cancelled])
  session.cancelled.delete(key)
  for (const frame of frames === 'cancelled' ? [] : frames) stream.send(frame)
  stream.end()
}

const asRpcError = (error: unknown) =>
  error instanceof RpcError ? error : new RpcError(rpcCodes.internal, 'Internal error')

let asked = 0

/** Sends the questions of a round, and waits for all answers. */
async function answersTo({ round }: Asking, session: Session, stream: EventStream): Promise<Asking['answers']> {
  const all = Object.entries(round).map(async ([name, question]) => {
    const id = `standin-${++asked}`
    const answer = new Promise<RpcResponse>(resolve => session.asked.set(id, resolve))
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
