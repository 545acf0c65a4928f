/** Where an answer is written: node's response, or something that changes what is written to it. */
import type { ServerResponse } from 'node:http'

/**
 * What the code that sends answers may do with a response. Node's own has these members; `drain` and `close` are always
 * events of the response itself.
 */
export interface Writer {
  /** Headers are node's flat array of names and values. */
  writeHead(status: number, reason: string | undefined, headers: string[]): unknown
  /** Sends the head now, if the body begins later. */
  flushHeaders(): void
  /** Returns whether more may be written before `drain`. */
  write(chunk: string | Buffer, encoding?: BufferEncoding): boolean
  end(chunk?: string | Buffer, encoding?: BufferEncoding): unknown
  readonly writableNeedDrain: boolean
}

const WRITER = Symbol('writer')
type WrittenResponse = ServerResponse & { [WRITER]?: Writer }

/** Puts a writer in front of a response that has sent nothing yet. */
export function setWriter(response: WrittenResponse, writer: Writer): void {
  response[WRITER] = writer
}

/** What answers to this response are written to. */
export const writerOf = (response: WrittenResponse): Writer => response[WRITER] ?? response
