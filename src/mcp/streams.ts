/** The event streams of a session. A client that lost one can resume it. */
import type { OpenBody } from '../core/exchange.js'
import { unpaced } from '../core/pace.js'
import { eventText, type RpcFrame } from '../rpc/frames.js'

/** Where events are written. */
export interface EventSink {
  write(text: string): void
  end(): void
}

/** A body that stays open. `play` writes to it and returns a function to call when the client has disconnected. */
export const openBody = (play: OpenBody['play'], isEndless = false): OpenBody => ({
  ...{ head: '', before: '', pieces: [], after: '', tail: '', pace: unpaced },
  ...{ isEndless, play },
})

/** How many events of a stream are kept for clients that reconnect. */
const MOST_KEPT = 256

export type EventStream = ReturnType<typeof createEventStream>

/** Events are numbered within their stream, and the id of an event names both: `3-12`. */
export function createEventStream(number: number) {
  let events: { readonly n: number; readonly text: string }[] = []
  let last = 0
  let ended = false
  let reader: EventSink | undefined
  /** Ends the reader. It can resume the stream. */
  function cut(): void {
    reader?.end()
    reader = undefined
  }
  return {
    number,
    /** Whether no more events will come. */
    isEnded: () => ended,
    /** An event without a message, so that a client can resume a stream of which it has seen nothing else. */
    beginning: `id: ${number}-0\ndata:\n\n`,
    /** Keeps the event and returns its text. Readers get the text that `spoil` makes of it. */
    send(frame: RpcFrame, spoil = (text: string) => text): string {
      last++
      const text = eventText(frame, `${number}-${last}`)
      events.push({ n: last, text })
      if (events.length > MOST_KEPT) events = events.slice(-MOST_KEPT)
      reader?.write(spoil(text))
      return text
    },
    keepAlive: (): void => reader?.write(':\n\n'),
    cut,
    end(): void {
      ended = true
      cut()
    },
    /** Writes the events after event `after`, then new ones as they come. Ends the previous reader. */
    attach(sink: EventSink, after = 0): () => void {
      cut()
      for (const { n, text } of events) if (n > after) sink.write(text)
      if (ended) sink.end()
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
