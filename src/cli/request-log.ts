/** One line a request: method, path, status, time, who, and what gave the answer. */
import type { Caller, Exchange } from '../core/exchange.js'
import type { MessageRow } from '../core/state.js'
import { type Colors, harmless } from './output.js'

/** The line for a person. */
export function requestLine(exchange: Exchange, colors: Colors): string {
  const { method, path, outcome } = exchange
  const status = outcome?.status ? colorOf(outcome.status, colors)(String(outcome.status)) : colors.yellow('---')
  const parts = [
    colors.dim(new Date().toTimeString().slice(0, 8)),
    method.padEnd(4),
    harmless(path),
    status,
    colors.dim(`${durationMs(exchange)} ms`),
    colors.dim(nameOf(exchange.caller)),
    harmless(decisionOf(exchange)),
  ]
  return parts.filter(part => part !== '').join(' ')
}

/** The same as an object, for --json. */
export function requestEvent(exchange: Exchange) {
  const { method, path, caller, outcome } = exchange
  return {
    event: 'request',
    method,
    path,
    status: outcome?.status || null,
    durationMs: durationMs(exchange),
    caller,
    source: outcome?.source,
    error: outcome?.error,
    hint: outcome?.hint,
    remark: outcome?.remark?.(),
    complete: outcome?.complete ?? false,
  }
}

/** The line of a message that went to the outbox. */
export function messageLine({ subject, recipient, code, link }: MessageRow, colors: Colors): string {
  const parts = [
    colors.dim(new Date().toTimeString().slice(0, 8)),
    colors.cyan('OUTBOX'),
    `"${subject}" to ${harmless(recipient)}`,
    ...(code === null ? [] : [`code ${colors.bold(code)}`]),
    ...(link === null ? [] : [harmless(link)]),
  ]
  return parts.join(' ')
}

/** The same as an object, for --json. */
export const messageEvent = ({ kind, channel, recipient, code, link }: MessageRow) => ({
  ...{ event: 'message', kind, channel, recipient, code, link },
})

function decisionOf({ outcome }: Exchange): string {
  if (!outcome) return 'the client left before there was an answer'
  if (outcome.error !== undefined) return [outcome.error, outcome.hint].filter(Boolean).join(' ')
  if (!outcome.complete) return `${outcome.source ?? ''} (broken off)`.trim()
  const remark = outcome.remark?.()
  return remark ? `${outcome.source ?? ''}. ${remark}` : (outcome.source ?? '')
}

function nameOf(caller: Caller): string {
  switch (caller.kind) {
    case 'anonymous':
      return ''
    case 'anon':
    case 'service':
      return `${caller.kind} key`
    case 'user':
      return harmless(caller.email ?? caller.id)
    case 'apiKey':
      return `API key "${harmless(caller.name)}"`
    case 'stranger':
      return `credential ${caller.id}`
  }
}

const durationMs = ({ startedMs }: Exchange) => Math.round((performance.now() - startedMs) * 10) / 10

function colorOf(status: number, colors: Colors) {
  if (status < 300) return colors.green
  return status < 500 ? colors.yellow : colors.red
}
