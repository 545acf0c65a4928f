/** The event streams of a session. A client that lost one can resume it. */
import type { OpenBody } from '../core/exchange.js'
import { unpaced } from '../core/pace.js'
import { eventText, type RpcFrame } from '../rpc/frames.js'

/** Where events are written. */
interface EventSink {
  write(text: string): void
  end(): void
}

/** A body that stays open. `play` writes to it and returns a function to call when the client has disconnected. */
export const openBody = (play: OpenBody['play'], isEndless = false): OpenBody => ({
  ...{ head: '', before: '', pieces: [], after: '', tail: '', pace: unpaced },
  ...{ isEndless, play },
})

/** How many events of a stream are kept for clients that reconnect. */
const MOST_EVENTS = 256

export type EventStream = ReturnType<typeof createEventStream>

/** Events are numbered within their stream, and the id of an event names both: `3-12`. */
export function createEventStream(number: number) {
  let events: { readonly n: number; readonly text: string }[] = []
  let last = 0
  let hasEnded = false
  let reader: EventSink | undefined
  /** Disconnects the reader, which can resume the stream. */
  function cut(): void {
    reader?.end()
    reader = undefined
  }
  return {
    number,
    /** Whether no more events will come. */
    isEnded: () => hasEnded,
    /** An event without a message, with whose id a client can resume a stream that has sent nothing else. */
    firstEvent: `id: ${number}-0\ndata:\n\n`,
    /** Keeps the event and returns its text. The reader gets the text that `transform` returns. */
    send(frame: RpcFrame, transform = (text: string) => text): string {
      last++
      const text = eventText(frame, `${number}-${last}`)
      events.push({ n: last, text })
      if (events.length > MOST_EVENTS) events = events.slice(-MOST_EVENTS)
      reader?.write(transform(text))
      return text
    },
    keepAlive: (): void => reader?.write(':\n\n'),
    cut,
    end(): void {
      hasEnded = true
      cut()
    },
    /** Writes the events after the event number `after`, then new ones as they come. Disconnects the previous reader. */
    attach(sink: EventSink, after = 0): () => void {
      cut()
      for (const { n, text } of events) if (n > after) sink.write(text)
      if (hasEnded) sink.end()
      else reader = sink
      return () => {
        if (reader === sink) reader = undefined
      }
    },
  }
}

/** The stream and the number in an event id; `undefined` for an invalid id. */
export function eventIn(id: string): { readonly stream: number; readonly n: number } | undefined {
  const [, stream, n] = /^(\d{1,9})-(\d{1,9})$/.exec(id) ?? []
  return stream === undefined ? undefined : { stream: Number(stream), n: Number(n) }
}
