/** The bodies of a request and its answer for --verbose, cut to a readable length. */
import { dataIn } from '../chat/events.js'
import { MOST_TIMED_PIECES } from '../core/clock.js'
import type { JournalEntry } from '../journal/index.js'
import { assembledText } from '../recordings/index.js'
import { type Colors, formatBytes, formatDuration, pluralize, printable } from './output.js'

const MOST_LINES = 60
const LONGEST_LINE = 500

/** The lines to print below the line of the request; none for a missing body. */
export function bodyLines(entry: JournalEntry, colors: Colors): readonly string[] {
  const { request, response, upstream, status, firstByteMs } = entry
  const { piecesAtMs, bytes, truncated } = response
  const last = piecesAtMs.at(-1)
  const timing =
    last === undefined || firstByteMs === null
      ? []
      : [
          `${piecesAtMs.length >= MOST_TIMED_PIECES ? 'more than ' : ''}${pluralize(piecesAtMs.length, 'chunk')}`,
          `the first after ${formatDuration(firstByteMs + (piecesAtMs[0] ?? 0))}`,
          `the last after ${formatDuration(firstByteMs + last)}`,
        ]
  const truncation = truncated ? ['only the beginning was recorded'] : []
  const answerTitle = [`< ${formatBytes(bytes)}`, ...eventsOf(response), ...timing, ...truncation].join(', ')
  const section = (title: string, lines: readonly string[]) => [
    colors.dim(`  ${title}`),
    ...lines.map(line => `    ${line}`.trimEnd()),
  ]
  const liveTitle = upstream && `< ${formatBytes(upstream.bytes)}, as the live platform sent it`
  return [
    ...(request.bytes > 0 ? section(`> ${formatBytes(request.bytes)}`, readableLines(request.body)) : []),
    ...(liveTitle ? section(liveTitle, answerLines(upstream, status ?? 0)) : []),
    ...(bytes > 0 ? section(answerTitle, answerLines(response, status ?? 0)) : []),
  ]
}

/** The number of events of a stream, as far as its body was recorded. */
function eventsOf({ headers, body }: JournalEntry['response']): readonly string[] {
  if (typeof body !== 'string' || !/^text\/event-stream\b/i.test(headers['content-type'] ?? '')) return []
  return [pluralize(dataIn(Buffer.from(body)).length, 'event')]
}

/** The generated text if it is an answer of a model, otherwise the body as sent. */
function answerLines(
  { headers, body }: Pick<JournalEntry['response'], 'headers' | 'body'>,
  status: number,
): readonly string[] {
  if (typeof body !== 'string') return readableLines(body)
  const text = assembledText({
    status,
    headers: Object.entries(headers),
    headMs: 0,
    endMs: 0,
    complete: true,
    chunks: [{ atMs: 0, bytes: Buffer.from(body) }],
  })
  return readableLines(text === undefined || text === '' ? body : text)
}

function readableLines(body: unknown): readonly string[] {
  if (body === undefined) return []
  if (typeof body !== 'string') return limited(JSON.stringify(body, null, 2).split('\n'))
  return isPrintable(body) ? limited(body.split(/\r?\n/)) : ['(binary data)']
}

/** Undecodable bytes become U+FFFD; text contains neither that nor NUL. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this regex looks for them
const isPrintable = (body: string) => !/[\u0000\ufffd]/.test(body)

function limited(lines: readonly string[]): readonly string[] {
  const shown = lines.slice(0, MOST_LINES).map(line => cutLine(printable(line.replaceAll('\t', '  '))))
  const rest = lines.slice(MOST_LINES)
  if (rest.length === 0) return shown
  const bytes = rest.reduce((sum, line) => sum + Buffer.byteLength(line), 0)
  return [...shown, `… ${pluralize(rest.length, 'more line')}, ${formatBytes(bytes)}`]
}

const cutLine = (line: string) =>
  line.length <= LONGEST_LINE
    ? line
    : `${line.slice(0, LONGEST_LINE)}… ${pluralize(line.length - LONGEST_LINE, 'more character')}`
