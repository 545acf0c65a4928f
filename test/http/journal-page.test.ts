/** Pages of the journal are sent piece by piece, and do not block other requests. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { sendPage } from '../../src/journal/send-page.js'

async function serving(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.closeAllConnections())
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const ids = Array.from({ length: 500 }, (_, i) => String(i))

test('entries that were dropped in the meantime are left out, and the rest keep their order', async () => {
  const find = (id: string) => (Number(id) % 2 === 0 ? { id, text: 'ü'.repeat(1000) } : undefined)
  const url = await serving((_request, response) => void sendPage(response, { ids, next: '7' }, find))
  const page = (await (await fetch(url)).json()) as { data: readonly { id: string }[]; next: string }
  expect(page.data.map(({ id }) => id)).toEqual(ids.filter((_, i) => i % 2 === 0))
  expect(page.next).toBe('7')
})

test.each([[[]], [['1']]])('a page of %j is complete', async few => {
  const url = await serving(
    (_request, response) => void sendPage(response, { ids: few, next: undefined }, id => ({ id })),
  )
  const response = await fetch(url)
  expect(await response.json()).toEqual({ data: few.map(id => ({ id })) })
})

test('other work gets its turn while a page is sent', async () => {
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  const url = await serving((_request, response) => {
    setImmediate(count)
    void sendPage(response, { ids, next: undefined }, id => ({ id, text: 'x'.repeat(30_000) })).finally(() => {
      isOver = true
    })
  })
  await (await fetch(url)).text()
  expect(turns).toBeGreaterThan(50)
})

test('no more entries are prepared for a client that does not read, or has disconnected', async () => {
  let found = 0
  const ended = new Promise<number>(done => {
    const find = (id: string) => ({ id, text: 'x'.repeat(1_000_000 + 0 * found++) })
    void serving((_request, response) => {
      sendPage(response, { ids, next: undefined }, find).then(() => done(found))
    }).then(async url => {
      const leaving = new AbortController()
      await fetch(url, { signal: leaving.signal })
      leaving.abort()
    })
  })
  expect(await ended).toBeLessThan(100)
})
