/** Decides where an answer comes from: made here, carried over from the live platform, or played from a recording. */
import { noRecording, notFound } from '../core/errors.js'
import type { Answer, Endpoint, Exchange, Forward } from '../core/exchange.js'
import type { Fault } from '../core/fault.js'
import type { Origins } from '../core/origins.js'
import { isAuth } from '../core/paths.js'
import { CHAT } from '../core/read-chat.js'
import type { Recordings } from '../recordings/index.js'
import { type ModeOf, mayGoLive } from './modes.js'

/** What a rule says is to go wrong with the answer to a chat completion request, whoever gives that. */
export type FaultByRule = (exchange: Exchange) => Promise<Fault | undefined>

export interface DecideParts {
  readonly modeOf: ModeOf
  readonly faultByRule?: FaultByRule | undefined
  /** What was recorded and is to be; asked only in the modes that have to do with it. */
  readonly recordings: () => Promise<Recordings>
  /** Whether errors with another body than the documented one are made to fit. */
  readonly errors: 'documented' | 'untouched'
  /** What replay does with a request that has no recording. */
  readonly onMiss: 'fail' | 'emulate' | 'record'
  /** Who may go to the live platform. */
  readonly origins: Pick<Origins, 'requireOwn'>
  /** Told of each request that goes to the live platform. */
  readonly passed: () => void
}

/** The auth backend answers here in every mode; the platform's endpoints as the mode says. */
export function decide(parts: DecideParts, endpoint: Endpoint, exchange: Exchange): Answer | Promise<Answer> {
  if (isAuth(endpoint.path)) return endpoint.reply(exchange)
  const mode = parts.modeOf(exchange)
  exchange.mode = mode
  // Once more: the mode may have been switched while the body was on its way.
  if (mayGoLive(mode, parts.onMiss)) parts.origins.requireOwn(exchange.headers)
  switch (mode) {
    case 'emulate':
      return endpoint.reply(exchange)
    case 'proxy':
      return carryOver(parts, endpoint, exchange)
    case 'record':
      return record(parts, endpoint, exchange)
    case 'replay':
      return replay(parts, endpoint, exchange)
  }
}

function carryOver(
  { faultByRule, passed }: DecideParts,
  { path }: Endpoint,
  exchange: Exchange,
): Forward | Promise<Forward> {
  passed()
  if (path !== CHAT || !faultByRule) return { kind: 'forward' }
  return faultByRule(exchange).then(fault => ({ kind: 'forward', fault }))
}

async function record(parts: DecideParts, endpoint: Endpoint, exchange: Exchange): Promise<Forward> {
  const recordings = await parts.recordings()
  await recordings.ready()
  const witness = recordings.witness(exchange)
  return { ...(await carryOver(parts, endpoint, exchange)), witness, recordedAs: witness?.file }
}

async function replay(parts: DecideParts, endpoint: Endpoint, exchange: Exchange): Promise<Answer> {
  const recordings = await parts.recordings()
  const found = await recordings.find(exchange)
  if (found.kind === 'found') {
    const { reply, afterMs } = found.played
    if (afterMs > 0) await pause(afterMs)
    if (reply.status >= 200 && reply.status < 400) return reply
    return (await import('./fit-error.js')).deliverable(reply, exchange, parts.errors)
  }
  switch (parts.onMiss) {
    case 'emulate':
      return endpoint.reply(exchange)
    case 'record':
      return record(parts, endpoint, exchange)
    case 'fail':
      // A path that is neither documented nor recorded does not exist as far as anybody here knows.
      if (endpoint.isElsewhere && !found.isKnownPath) throw notFound()
      throw noRecording(exchange, found.why)
  }
}

/** Nobody is kept from leaving by an answer that is still to come. */
const pause = (ms: number) => new Promise<void>(resolve => void setTimeout(resolve, ms).unref())
