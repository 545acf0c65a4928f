/** A proxy like those that HTTP_PROXY names. */
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { onTestFinished } from 'vitest'

/** Starts a proxy that opens tunnels and forwards requests, and keeps the hosts that it was asked for. It finds every host at `everyPort` of this machine, if given. */
export async function forwardProxy(everyPort?: number) {
  const asked: string[] = []
  const server = http.createServer((request, response) => {
    const { method, url = '', headers } = request
    asked.push(new URL(url).host)
    const onward = http.request(url, { method, headers }, answer => {
      response.writeHead(answer.statusCode ?? 0, answer.rawHeaders)
      answer.pipe(response)
    })
    request.pipe(onward)
  })
  server.on('connect', ({ url = '' }: http.IncomingMessage, client: net.Socket, early: Buffer) => {
    asked.push(url)
    const { hostname, port } = new URL(`http://${url}`)
    const onward = net.connect(everyPort ?? Number(port), everyPort ? '127.0.0.1' : hostname, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      onward.write(early)
      onward.pipe(client).pipe(onward)
    })
    for (const socket of [onward, client]) {
      socket.on('error', () => {})
      onTestFinished(() => void socket.destroy())
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`, asked }
}
