/** The log line of a request: method, path, status, time, caller and source. Advice, if there is any, goes on a second line. Contains no secrets. */
import { callerInWords } from '../core/caller.js'
import { type Caller, usesLive } from '../core/exchange.js'
import type { JournalEntry } from '../journal/index.js'
import type { MessageRow } from '../state/rows.js'
import { type Colors, cutTo, formatDuration, padTo, pluralize, printable, widthOf, wrap } from './output.js'

export interface LogLayout {
  readonly colors: Colors
  /** The width of the terminal; unlimited for a file. */
  readonly columns?: number | undefined
}

/** The widths of the columns; longer values exceed them. */
const METHOD = 4
const PATH = 20
const TIME = 8
/** The maximum width of the path, and its minimum on a narrow terminal. */
const LONGEST_TARGET = 300
const SHORTEST_TARGET = 10
/** Terminals narrower than this show no time of day. */
const NARROW = 56

/** The rows for people. `note` is added to the end of the first one, before advice. */
export function requestRows(
  line: JournalEntry,
  { colors, columns = Number.POSITIVE_INFINITY }: LogLayout,
  note = '',
): string[] {
  const isNarrow = columns < NARROW
  const clock = isNarrow ? '' : `${timeOfDay(line.at)} `
  const method = printable(line.request.method).padEnd(METHOD)
  const status = line.status === null ? '---' : String(line.status)
  const time = timeOf(line).padStart(TIME)
  const rest = [callerName(line.caller), [outcomeOf(line), note].filter(Boolean).join(' ')].filter(Boolean)
  // The last column stays empty, as some terminals wrap when it is filled.
  const room = columns - 1
  const fixedWidth = clock.length + method.length + status.length + time.length + 3
  const longest = Math.min(LONGEST_TARGET, Math.max(SHORTEST_TARGET, room - fixedWidth))
  const target = padTo(cutTo(targetOf(line), longest), isNarrow ? 0 : Math.min(PATH + METHOD - method.length, longest))
  const head = [colors.dim(clock) + method, target, colorOf(line.status, colors)(status), colors.dim(time)].join(' ')
  const indent = ' '.repeat(isNarrow ? 2 : clock.length)
  const rowsBelow = (text: string, paint: (text: string) => string) =>
    wrap(text, Math.max(SHORTEST_TARGET, room - indent.length)).map(row => indent + paint(row))
  const width = fixedWidth + widthOf(target) + widthOf(rest.join('  ')) + 2
  const rows =
    width <= room
      ? [[head, ...dimCaller(rest, line, colors)].join('  ').trimEnd()]
      : [head, ...rowsBelow(rest.join('  '), text => text)]
  const { openaiRefuses, advice } = line
  if (openaiRefuses)
    rows.push(...rowsBelow(`→ OpenAI refuses this with 400: ${printable(openaiRefuses)}`, colors.yellow))
  return advice === null ? rows : [...rows, ...rowsBelow(`→ ${advice}`, colors.cyan)]
}

/** The caller is dimmed: it matters less than the decision. */
const dimCaller = (rest: readonly string[], { caller }: JournalEntry, colors: Colors) =>
  callerName(caller) === '' ? rest : rest.map((text, i) => (i === 0 ? colors.dim(text) : text))

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
