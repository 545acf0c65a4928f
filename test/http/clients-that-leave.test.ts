import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { Endpoint, Exchange, Reply } from '../../src/core/exchange.js'
import { unpaced } from '../../src/core/pace.js'
import { createEntrance } from '../../src/http/entrance.js'
import { listen } from '../../src/http/listen.js'
import { journalOfAll, lineOver } from './emulating.js'

const body = {
  head: 'a',
  before: '',
  pieces: ['b', 'c'],
  after: '',
  tail: 'd',
  pace: { ...unpaced, firstTokenMs: 1 },
}
const reply: Reply = { kind: 'reply', status: 200, contentType: 'text/plain', body: 'hello' }

/** A promise that is resolved from outside. */
function signal() {
  let resolve = () => {}
  const promise = new Promise<void>(done => {
    resolve = done
  })
  return { promise, resolve }
}

/** A line that waits, to identify the caller and to reply, until the test lets it go on. */
async function lineThatWaits({ access = 'anyone', answer = reply }: { access?: Endpoint['access']; answer?: Reply }) {
  const reached = signal()
  const going = signal()
  const wait = () => {
    reached.resolve()
    return going.promise
  }
  const endpoint: Endpoint = {
    method: 'POST',
    path: '/there',
    access,
    takesBody: true,
    reply: () => wait().then(() => answer),
  }
  const journal = journalOfAll()
  const journaled = new Promise<Exchange>(resolve => journal.follow(resolve))
  const { accept } = lineOver({ endpoint, journal, identify: () => wait().then(() => ({ kind: 'service' })) })
  const gone = signal()
  const listener = await listen(
    createEntrance({
      line(request, response, path) {
        response.once('close', () => gone.resolve())
        accept(request, response, path)
      },
      app: () => {},
    }),
    { host: '127.0.0.1', port: 0 },
  )
  onTestFinished(() => listener.stop(0))

  const socket = connect(listener.port, '127.0.0.1')
  socket.write('POST /there HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\nContent-Length: 4\r\n\r\n')
  return {
    journaled,
    /** Sends this part of the body, disconnects while the line waits, and lets it go on once it has noticed. */
    async leaveAfter(sent: string) {
      socket.write(sent)
      await reached.promise
      socket.destroy()
      await gone.promise
      going.resolve()
    },
  }
}

test.each([
  ['a reply is being prepared', {}, '{"a"'],
  ['a paced reply is being prepared', { answer: { ...reply, body } }, '{"a"'],
  ['the caller is being identified', { access: ['service'] }, '{"a"'],
  ['the caller is being identified and part of the body is missing', { access: ['service'] }, '{'],
] as const)('a client that disconnects while %s is journaled, and nothing is sent', async (_name, parts, sent) => {
  const { journaled, leaveAfter } = await lineThatWaits(parts)
  await leaveAfter(sent)
  expect(await journaled).toMatchObject({ path: '/there', outcome: undefined })
})
