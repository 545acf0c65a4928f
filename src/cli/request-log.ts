/** The log line of a request: method, path, status, time, caller and source. Advice, if there is any, goes on a second line. Contains no secrets. */
import { callerInWords } from '../core/caller.js'
import { shortened } from '../core/errors.js'
import { type Caller, usesLive } from '../core/exchange.js'
import type { JournalEntry } from '../journal/index.js'
import type { MessageRow } from '../state/rows.js'
import { type Colors, formatDuration, pluralize, printable } from './output.js'

/** The least widths of the columns. */
const METHOD = 4
const PATH = 20
const TIME = 8
const LONGEST_TARGET = 300

/** The rows for people: the request, and advice. */
export function requestRows(line: JournalEntry, colors: Colors): readonly string[] {
  const clock = `${timeOfDay(line.at)} `
  const method = printable(line.request.method).padEnd(METHOD)
  const target = shortened(targetOf(line), LONGEST_TARGET).padEnd(PATH + METHOD - method.length)
  const status = colorOf(line.status, colors)(line.status === null ? '---' : String(line.status))
  const head = [colors.dim(clock) + method, target, status, colors.dim(timeOf(line).padStart(TIME))].join(' ')
  const caller = callerName(line.caller)
  const { openaiRefuses, advice } = line
  const below = (text: string) => `${' '.repeat(clock.length)}→ ${text}`
  return [
    // The caller is dimmed: it matters less than the decision.
    [head, caller && colors.dim(caller), outcomeOf(line)].filter(Boolean).join('  '),
    ...(openaiRefuses ? [colors.yellow(below(`OpenAI refuses this with 400: ${printable(openaiRefuses)}`))] : []),
    ...(advice === null ? [] : [colors.cyan(below(advice))]),
  ]
}

function targetOf({ request: { path, query }, call }: JournalEntry): string {
  const target = query === '' ? path : `${path}?${query}`
  return printable(call === null ? target : `${target}  ${call}`)
}

/** The request as an object for --json. */
export function requestEvent(entry: JournalEntry, withBodies: boolean) {
  const { request, caller, status, call, mode, source, error, hint, remark, advice, openaiRefuses, complete } = entry
  return {
    event: 'request',
    method: request.method,
    path: request.path,
    ...(request.query !== '' && { query: request.query }),
    status,
    durationMs: entry.durationMs,
    ...(entry.firstByteMs !== null && { firstByteMs: entry.firstByteMs }),
    ...(entry.firstTokenMs !== null && { firstTokenMs: entry.firstTokenMs }),
    caller,
    ...withoutNulls({ call, mode, source, error, hint, remark, advice, openaiRefuses }),
    complete,
    ...(entry.upstream && { fitted: true }),
    ...(withBodies && { id: entry.id, request: entry.request, response: entry.response }),
    ...(withBodies && entry.upstream && { upstream: entry.upstream }),
  }
}

const withoutNulls = (facts: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null))

export function messageLine({ subject, recipient, code, link }: MessageRow, colors: Colors): string {
  const parts = [
    colors.dim(timeOfDay(new Date().toISOString())),
    colors.cyan('OUTBOX'),
    `"${printable(subject)}" to ${printable(recipient)}`,
    ...(code === null ? [] : [`code ${colors.bold(code)}`]),
    ...(link === null ? [] : [printable(link)]),
  ]
  return parts.join(' ')
}

export function messageEvent({ kind, channel, recipient, code, link }: MessageRow) {
  return { event: 'message', kind, channel, recipient, code, link }
}

function outcomeOf(line: JournalEntry): string {
  const { mode, endpoint, source, error, hint, remark, advice, status, complete, upstream } = line
  const origin = [mode, source, upstream && REWRITTEN].filter(Boolean).join(' · ')
  if (error !== null) {
    // The advice has rows of its own.
    const plain = error.replace(advice ?? '', '').trimEnd()
    const reason = printable(hint === null ? plain : `${withFullStop(plain)} ${hint}`)
    if (endpoint === null || (mode === null && source === null)) return `refused · ${reason}`
    return mode === null ? reason : `${mode} · ${reason}`
  }
  if (status === null) {
    return source === null ? 'the client left before there was an answer' : printable(`${origin} (no answer)`)
  }
  if (!complete) return printable(`${origin} (broken off${piecesOf(line)})`).trim()
  if (remark === null) return printable(origin)
  return printable(status >= 400 ? `${origin}: ${remark}` : `${origin}. ${remark}`)
}

/** Explains why the body differs from the live platform's. */
const REWRITTEN = 'error rewritten to the documented format'

/** Adds a full stop to text from elsewhere if it has none. */
const withFullStop = (text: string) => (/[.!?…]$/.test(text) ? text : `${text}.`)

const piecesOf = ({ response: { piecesAtMs } }: JournalEntry) =>
  piecesAtMs.length === 0 ? '' : ` after ${pluralize(piecesAtMs.length, 'chunk')}`

const callerName = (caller: Caller) => printable(callerInWords(caller))

/** With the time of the first token of a stream, or of the first byte of a live answer that took time to arrive. */
function timeOf({ mode, firstByteMs, firstTokenMs, durationMs }: JournalEntry): string {
  const total = formatDuration(durationMs)
  if (firstTokenMs !== null) return `${total}, first token ${formatDuration(firstTokenMs)}`
  const isSlow = mode !== null && usesLive(mode) && firstByteMs !== null && durationMs - firstByteMs >= SLOW_BODY_MS
  return isSlow ? `${total}, first byte ${formatDuration(firstByteMs)}` : total
}

const SLOW_BODY_MS = 50

const timeOfDay = (at: string) => new Date(at).toTimeString().slice(0, 8)

function colorOf(status: number | null, colors: Colors) {
  if (status === null) return colors.yellow
  if (status < 300) return colors.green
  return status < 500 ? colors.yellow : colors.red
}
