/** Sends raw bytes to a platform, for requests that no HTTP client would send. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { onTestFinished } from 'vitest'

interface Wire {
  /** Sends text, one byte per character; resolves once it is sent. */
  say(text: string): Promise<void>
  /** The next answer that has a Content-Length. */
  answer(): Promise<WireAnswer>
  /** Everything until the platform closes the connection. */
  rest(): Promise<string>
  /** Hangs up. */
  leave(): void
}

interface WireAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** Opens a connection to the platform at `url`; it is closed when the test is over. */
export async function wireTo(url: string): Promise<Wire> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).setEncoding('latin1')
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  const incoming: AsyncIterator<string> = socket[Symbol.asyncIterator]()
  let received = ''

  async function more(): Promise<boolean> {
    const { done, value } = await incoming.next()
    if (!done) received += value
    return !done
  }

  return {
    say: text => new Promise((sent, failed) => socket.write(text, 'latin1', error => (error ? failed(error) : sent()))),
    async answer() {
      for (;;) {
        const first = firstAnswerIn(received)
        if (first) {
          received = received.slice(first.length)
          return first.answer
        }
        if (!(await more())) throw new Error(`The connection was closed after ${JSON.stringify(received)}`)
      }
    },
    async rest() {
      while (await more());
      return received
    },
    leave: () => void socket.destroy(),
  }
}

/** A raw HTTP/1.1 request, which keeps the connection open unless a header says otherwise. */
export function onTheWire(request: string, headers: readonly string[] = [], body = ''): string {
  const length = body === '' ? [] : [`Content-Length: ${body.length}`]
  return [`${request} HTTP/1.1`, 'Host: localhost', ...length, ...headers, '', body].join('\r\n')
}

/** Sends one text and returns the answer to it. */
export async function answerTo(url: string, text: string): Promise<WireAnswer> {
  const wire = await wireTo(url)
  await wire.say(text)
  return wire.answer()
}

function firstAnswerIn(text: string): { readonly answer: WireAnswer; readonly length: number } | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n')
  const headers = new Headers(lines.map(line => line.split(/: ?(.*)/s, 2) as [string, string]))
  const length = end + 4 + Number(headers.get('content-length'))
  if (text.length < length) return
  const body = Buffer.from(text.slice(end + 4, length), 'latin1').toString('utf8')
  return { answer: { status: Number(statusLine.split(' ')[1]), headers, body }, length }
}
