/** The life of a request, from its arrival to its entry in the journal: the whole line, read from top to bottom. */
import { type ChatRequest, chatIn } from '../chat/request.js'
import { notFound, notOneHost, PlatformError, unmetExpectation } from '../core/errors.js'
import { usesRecordings } from '../core/exchange.js'
import { MOST_LEVELS, requireModestJson } from '../core/json.js'
import { CANARY } from '../core/paths.js'
import { Hit } from '../faults/hit.js'
import { type ChosenFault, FAULT_HEADER } from '../faults/index.js'
import { holdBeforeAnswer } from '../holds/held.js'
import { authorize } from '../keys/identify.js'
import { isJson, isUnread, readBody, requireJson } from './body.js'
import { optionsHeaders } from './cors.js'
import { enterAnyScope, scopeByMore } from './scopes.js'
import { forward, sendError, sendReply } from './send.js'
import type { LineContext, LineParts, LineServices } from './surface.js'

/**
 * Never rejects: every request gets an answer, even if something fails, and is then journaled. Long because it is the whole
 * line, with nothing of it elsewhere.
 */
export async function handle(context: LineContext, parts: LineParts, services: LineServices): Promise<void> {
  const { request, response, exchange, surface, live } = context
  const { headers } = request
  const { scopes, limits, holds, faults } = parts
  try {
    // What follows an answer of the hostile model is journaled, and gets nowhere.
    if (exchange.path.startsWith(CANARY)) throw notFound(exchange.path)

    // 1. Accept: a request names one host (RFC 9112 §3.2; node joins two with a comma), and expects nothing that is not defined
    // (RFC 9110 §10.1.1). One that may reach the live platform comes from no foreign page.
    const { host, expect } = headers
    if (host === undefined ? request.httpVersion === '1.1' : host.includes(',')) throw notOneHost()
    if (expect !== undefined && !/^100-continue$/i.test(expect)) throw unmetExpectation()
    live?.origins.requireOwn(headers, live.mayBeLinked(exchange.path))

    // A page asks first whether it may send its request.
    if (exchange.method === 'OPTIONS') {
      const allowed = await optionsHeaders(exchange, surface)
      if (allowed) {
        const reply = { kind: 'reply', status: 204, contentType: '', body: '', headers: allowed } as const
        return await sendReply(context, reply, parts, services)
      }
    }

    // 2. Identify: the surface knows the endpoint and the caller, and both may name the test.
    const caller = parts.isScoped ? enterAnyScope(exchange, surface) : surface.enter(exchange)
    exchange.caller = caller instanceof Promise ? await caller : caller
    if (parts.isScoped) scopes.decide(exchange)
    // `close` has already fired, so no event would end the exchange. From here on, leaving means the journal.
    if (response.destroyed) return

    // 3. Authorize: the endpoint says who may call it, and limits how often.
    const { endpoint } = exchange
    if (endpoint) authorize(exchange.caller, endpoint)
    if (limits) {
      context.quota = limits.quotaFor(exchange.caller, exchange.path, endpoint)
      context.quota?.request()
    }

    // 4. Read: a live platform gets every body, even where none is expected.
    const takesBody = endpoint?.takesBody !== false
    if (takesBody || (live && isUnread(request))) {
      const isOfAnyType = endpoint?.isUndocumented || endpoint?.isConfigured
      if (takesBody && surface.requiresJsonType && !isOfAnyType) requireJson(request)
      const read = readBody(request, surface.bodyLimitBytes)
      const body = read instanceof Promise ? await read : read
      if (body === undefined) return
      if (body instanceof PlatformError) {
        exchange.bodyCutFromBytes = surface.bodyLimitBytes
        throw body
      }
      exchange.body = body
      if (body.length > MOST_LEVELS && (!endpoint?.isUndocumented || isRecordable(context))) requireModestJson(body)
    }
    if (parts.isScoped) await scopeByMore(exchange, parts)
    const chat = context.quota?.countsChat && !response.destroyed ? readableChat(context) : undefined
    if (chat) context.quota?.chat(chat)

    // 5. Wait or fail, if a test wants that: before the answer is made, so that it has no effect.
    if (holds && !exchange.isWebSocket && !(await holdBeforeAnswer(context, holds, surface.faultCode))) return
    if (parts.mayFail || headers[FAULT_HEADER] !== undefined) {
      const early = surface.drawsFaultsFirst ? () => faults.ruledOrRandom(exchange) : () => undefined
      if (!(await strike(context, faults.requested(exchange) ?? early(), parts))) return
    }

    // 6. Decide: an answer that was lost, a hostile model's, our own, or to ask the live platform. A rule, or chance, may add a
    // fault.
    const wasHit = context.hit !== undefined
    const lost = headers['idempotency-key'] === undefined ? undefined : faults.lost.find(exchange)
    const decided = lost ?? context.hit?.answer(exchange) ?? surface.answer(exchange)
    let answer = decided instanceof Promise ? await decided : decided
    if ((answer.fault || faults.areRandom) && !wasHit && !surface.drawsFaultsFirst) {
      if (!(await strike(context, faults.ruledOrRandom(exchange, answer), parts))) return
      answer = context.hit?.answer(exchange) ?? answer
    }

    if (context.hit?.losesAnswer) faults.lost.keep(exchange, answer)

    // 7. Send. What waits for the network here is a stream, or the live platform.
    if (response.destroyed) return
    context.held?.attach()
    const sending =
      answer.kind === 'forward'
        ? forward(context, answer, parts, services)
        : sendReply(context, answer, parts, services)
    if (sending) await sending
  } catch (error) {
    // Whatever goes wrong above becomes an error body, in the format of the surface.
    await sendError(context, error, parts, services)
  } finally {
    // 8. Journal: always, and last. What a fault or a hold has left of an answer is known when the response closes.
    const { hit, held } = context
    if ((hit || held) && !response.destroyed) await new Promise(resolve => response.once('close', resolve))
    if (hit) exchange.outcome = hit.outcome(exchange.outcome, response.writableFinished)
    held?.correct(exchange.outcome)
    services.end(context)
  }
}

/** Bodies for paths that only the live platform knows may be of any type. They are parsed only in order to record them. */
const isRecordable = ({ request, exchange, surface: { modeOf } }: LineContext) =>
  modeOf !== undefined && usesRecordings(modeOf(exchange)) && isJson(request)

/** Returns `undefined` for an invalid chat request that is not emulated, since the live platform may accept it. */
function readableChat({ exchange, surface }: LineContext): ChatRequest | undefined {
  try {
    return chatIn(exchange)
  } catch (error) {
    if ((surface.modeOf?.(exchange) ?? 'emulate') !== 'emulate' && error instanceof PlatformError) return undefined
    throw error
  }
}

/** Lets a fault hit the request, if there is one. Resolves to whether an answer is still wanted. */
async function strike(context: LineContext, chosen: ChosenFault | undefined, parts: LineParts): Promise<boolean> {
  const { response, surface, exchange } = context
  if (!chosen) return true
  if (response.destroyed) return false
  const hit = new Hit(chosen)
  context.hit = hit
  if (!(await hit.begin(response, surface.faultCode))) return false
  if (hit.session === undefined || !parts.disturb) return true
  hit.note(await parts.disturb(exchange, hit.session))
  // A request that was let in before its user was banned is answered.
  if (hit.session !== 'banned')
    exchange.caller = await (parts.isScoped ? enterAnyScope(exchange, surface) : surface.enter(exchange))
  return true
}
