/** A call in a session that asks the client for input: the questions and the result are sent in one event stream. */
import type { OpenBody } from '../core/exchange.js'
import { failureFrame, RpcError, type RpcId, type RpcRequest, type RpcResponse, rpcCodes } from '../rpc/frames.js'
import type { InputRequiredCall } from './calls.js'
import type { Context } from './context.js'
import { type CallMessages, withTextFault } from './deliver.js'
import { addWaitingCall, type Session, type WaitingCall } from './sessions.js'
import { type EventStream, openBody } from './streams.js'

/** Continues a call with the client's answers. */
type ContinueCall = (
  answers: InputRequiredCall['answers'],
  ruleAnswer: InputRequiredCall['ruleAnswer'],
) => Promise<InputRequiredCall | CallMessages>

/** The body of the response. If the client disconnects, the call continues, because the client may resume the stream. */
export function questionsBody(
  first: InputRequiredCall,
  request: RpcRequest,
  context: Context,
  continueCall: ContinueCall,
): OpenBody {
  const session = context.session as Session
  return openBody(sink => {
    const stream = context.server.sessions.stream(session)
    const call = waitingCall(request.id)
    addWaitingCall(session, call)
    const detach = stream.attach(sink)
    void completeCall(first, call, stream, continueCall).finally(() => session.waiting.delete(call))
    return detach
  })
}

interface PendingCall extends WaitingCall {
  /** Resolves to the answer to the question with this id. */
  answerTo(id: RpcId): Promise<RpcResponse>
  /** Settles when the call is cancelled. */
  readonly cancelled: Promise<'cancelled'>
}

function waitingCall(requestId: RpcId): PendingCall {
  const pending = new Map<unknown, (response: RpcResponse) => void>()
  let cancel = () => {}
  const cancelled = new Promise<'cancelled'>(resolve => {
    cancel = () => resolve('cancelled')
  })
  return {
    ...{ requestId, cancel, cancelled },
    answerTo: id => new Promise(resolve => pending.set(id, resolve)),
    take(response) {
      const resolveAnswer = pending.get(response.id)
      pending.delete(response.id)
      resolveAnswer?.(response)
    },
  }
}

async function completeCall(
  first: InputRequiredCall,
  call: PendingCall,
  stream: EventStream,
  continueCall: ContinueCall,
): Promise<void> {
  const result = (async () => {
    let next: InputRequiredCall | CallMessages = first
    while ('kind' in next)
      next = await continueCall({ ...next.answers, ...(await askRound(next, call, stream)) }, next.ruleAnswer)
    return next
  })().catch(
    (error: unknown): CallMessages => ({
      ...{ notifications: [], response: failureFrame(call.requestId, asRpcError(error)), generation: undefined },
    }),
  )
  const messages = await Promise.race([result, call.cancelled])
  if (messages !== 'cancelled') sendMessages(messages, stream)
  stream.end()
}

function sendMessages({ notifications, response, generation }: CallMessages, stream: EventStream): void {
  for (const frame of notifications) stream.send(frame, text => withTextFault(text, generation))
  if (generation?.protocolFault === 'cut-stream') stream.cut()
  stream.send(response, text => withTextFault(text, generation))
}

const asRpcError = (error: unknown) =>
  error instanceof RpcError ? error : new RpcError(rpcCodes.internal, 'Internal error')

let questionsSent = 0

/** Sends the questions of a round, and waits for all answers. */
async function askRound(
  { round }: InputRequiredCall,
  call: PendingCall,
  stream: EventStream,
): Promise<InputRequiredCall['answers']> {
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
