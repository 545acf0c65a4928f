/**
 * Splits a stream of server-sent events byte for byte, wherever the network cut it (HTML standard, "Server-sent
 * events").
 */

const LF = 10
const CR = 13
const empty: Buffer = Buffer.alloc(0)

/** A longer event is passed on unsplit, since nothing may be collected without limit. */
const LONGEST_BYTES = 1_048_576

/** Lines end in LF or CRLF. A lone CR is not supported: it could be half of a CRLF. */
export function createEventSplitter() {
  let buffer: Buffer = empty
  /** Where the current line begins. */
  let lineStart = 0

  return {
    /** Returns the events that these bytes complete, each with the blank line that ends it. */
    push(bytes: Buffer): readonly Buffer[] {
      const searched = buffer.length
      buffer = searched === 0 ? bytes : Buffer.concat([buffer, bytes])
      const events: Buffer[] = []
      let start = 0
      for (let end = buffer.indexOf(LF, searched); end >= 0; end = buffer.indexOf(LF, end + 1)) {
        const isBlank = end === lineStart || (end === lineStart + 1 && buffer[lineStart] === CR)
        lineStart = end + 1
        if (!isBlank) continue
        events.push(buffer.subarray(start, lineStart))
        start = lineStart
      }
      buffer = buffer.subarray(start)
      lineStart -= start
      if (buffer.length <= LONGEST_BYTES) return events
      const tooLong = buffer
      buffer = empty
      lineStart = 0
      return [...events, tooLong]
    },
    /** The bytes after the last blank line. */
    rest: () => buffer,
  }
}

/** The events of a whole body, byte for byte. The last one may lack its blank line. */
export function eventsIn(body: Buffer): readonly Buffer[] {
  const splitter = createEventSplitter()
  const events = splitter.push(body)
  const rest = splitter.rest()
  return rest.length === 0 ? events : [...events, rest]
}

/** The lines of a body, byte for byte, including line ends. */
export function linesIn(body: Buffer): readonly Buffer[] {
  const lines: Buffer[] = []
  for (let start = 0; start < body.length; ) {
    const end = body.indexOf(LF, start) + 1 || body.length
    lines.push(body.subarray(start, end))
    start = end
  }
  return lines
}

/** The data of all events in a body. Comments have none. */
export const dataIn = (body: Buffer): readonly string[] => eventsIn(body).flatMap(event => dataOf(event) ?? [])

/** Whether the content type is that of a stream: server-sent events, or one JSON document per line. */
export const isStreamType = (contentType: string) =>
  /^(text\/event-stream|application\/(x-)?ndjson)\b/i.test(contentType)

/** The data of an event; `undefined` if it has none, like a comment. */
export function dataOf(event: Buffer): string | undefined {
  const values = event
    .toString('utf8')
    .split(/\r?\n/)
    .filter(line => line.startsWith('data:'))
    .map(line => line.slice('data:'.length).replace(/^ /, ''))
  return values.length === 0 ? undefined : values.join('\n')
}

/** Returns the event with its last data line cut in half. */
export function halvedEvent(event: Buffer): Buffer {
  // One character per byte, so that positions in the text are positions in the bytes.
  const last = [...event.toString('latin1').matchAll(/^data: ?(.*)$/gm)].at(-1)
  if (!last) return event
  const end = last.index + last[0].length
  const middle = end - Math.floor((last[1]?.length ?? 0) / 2)
  return Buffer.concat([event.subarray(0, characterStart(event, middle)), event.subarray(end)])
}

/** The beginning of the character that contains the byte at `place`: UTF-8 marks all bytes but the first. */
export function characterStart(bytes: Buffer, place: number): number {
  let start = place
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--
  return start
}

/** The events of a stream as they become whole, wherever the network cut it. */
export async function* wholeEvents(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  const splitter = createEventSplitter()
  for await (const piece of pieces) yield* splitter.push(piece)
  const rest = splitter.rest()
  if (rest.length > 0) yield rest
}
