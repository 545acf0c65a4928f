/** The bodies of a request and its answer for --verbose, cut to a readable length. */
import { dataIn } from '../completions/events.js'
import { MOST_TIMED_PIECES } from '../core/clock.js'
import type { JournalEntry } from '../journal/index.js'
import { assembledText } from '../recordings/index.js'
import { createRedact } from '../redact/index.js'
import { counted, cutTo, inBytes, inTime } from './format.js'
import { type Colors, harmless } from './output.js'

/** The journal has already removed the secrets that only the configuration knows. */
const redaction = createRedact({ headers: [], query: [], emails: false, patterns: [], known: [] })

/** Limits on the lines of a body and the characters of a line. */
const MOST_LINES = 60
const LONGEST_LINE = 500

/** Lines to print below the request's line. An absent body has none. */
export function bodyLines(entry: JournalEntry, colors: Colors): readonly string[] {
  const { request, response, upstream, status, firstByteMs } = entry
  const { piecesAtMs, bytes, truncated } = response
  const last = piecesAtMs.at(-1)
  const rhythm =
    last === undefined || firstByteMs === null
      ? []
      : [
          `${piecesAtMs.length >= MOST_TIMED_PIECES ? 'more than ' : ''}${counted(piecesAtMs.length, 'chunk')}`,
          `the first after ${inTime(firstByteMs + (piecesAtMs[0] ?? 0))}`,
          `the last after ${inTime(firstByteMs + last)}`,
        ]
  const cut = truncated ? ['only the beginning was recorded'] : []
  const answer = [`< ${inBytes(bytes)}`, ...eventsOf(response), ...rhythm, ...cut].join(', ')
  const part = (title: string, lines: readonly string[]) => [
    colors.dim(`  ${title}`),
    ...lines.map(line => `    ${line}`.trimEnd()),
  ]
  const untouched = upstream && `< ${inBytes(upstream.bytes)}, as the live platform sent it`
  return [
    ...(request.bytes > 0 ? part(`> ${inBytes(request.bytes)}`, shownLines(request.body)) : []),
    ...(untouched ? part(untouched, answerLines(upstream, status ?? 0)) : []),
    ...(bytes > 0 ? part(answer, answerLines(response, status ?? 0)) : []),
  ]
}

/** How many events a stream has, as far as its body was kept. */
function eventsOf({ headers, body }: JournalEntry['response']): readonly string[] {
  if (typeof body !== 'string' || !/^text\/event-stream\b/i.test(headers['content-type'] ?? '')) return []
  return [counted(dataIn(Buffer.from(body)).length, 'event')]
}

/** For a model's stream, the text that was generated; for anything else, the body as sent. */
function answerLines(
  { headers, body }: Pick<JournalEntry['response'], 'headers' | 'body'>,
  status: number,
): readonly string[] {
  if (typeof body !== 'string') return shownLines(body)
  const text = assembledText({
    ...{ status, headers: Object.entries(headers), headMs: 0, endMs: 0, complete: true },
    chunks: [{ atMs: 0, bytes: Buffer.from(body) }],
  })
  // A secret that was split over chunks is only visible in the assembled text.
  return shownLines(text === undefined || text === '' ? body : redaction().text(text))
}

function shownLines(body: unknown): readonly string[] {
  if (body === undefined) return []
  if (typeof body !== 'string') return bounded(JSON.stringify(body, null, 2).split('\n'))
  return isText(body) ? bounded(body.split(/\r?\n/)) : ['(no text)']
}

/** Undecodable bytes become U+FFFD; text contains neither that nor NUL. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this regex looks for them
const isText = (body: string) => !/[\u0000\ufffd]/.test(body)

function bounded(lines: readonly string[]): readonly string[] {
  const shown = lines.slice(0, MOST_LINES).map(line => shortened(harmless(line.replaceAll('\t', '  '))))
  const left = lines.slice(MOST_LINES)
  if (left.length === 0) return shown
  const bytes = left.reduce((sum, line) => sum + Buffer.byteLength(line), 0)
  return [...shown, `… ${counted(left.length, 'more line')}, ${inBytes(bytes)}`]
}

const shortened = (line: string) =>
  line.length <= LONGEST_LINE
    ? line
    : `${cutTo(line, LONGEST_LINE)} ${counted(line.length - LONGEST_LINE, 'more character')}`
