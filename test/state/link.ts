/** A link to a server that can silently go dead, as when a machine is unplugged: connections stay open, but no data gets through. */
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Link {
  /** The URL of the server through this link. */
  readonly url: string
  /** From now on no data gets through, and neither end notices. */
  goDead(): void
}

/** Opens a link to the server of this URL; it is closed at the end of the test. */
export async function linkTo(url: string): Promise<Link> {
  const { hostname, port } = new URL(url)
  const ends = new Set<Socket>()
  let dead = false
  const listener = createServer(near => {
    const far = connect(Number(port), hostname)
    for (const [end, other] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(end)
      end.on('error', () => {})
      end.on('data', bytes => {
        if (!dead) other.write(bytes)
      })
      end.once('close', () => {
        if (!dead) other.destroy()
      })
    }
  })
  await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const end of ends) end.destroy()
    listener.close()
  })
  const through = new URL(url)
  through.port = String((listener.address() as { port: number }).port)
  return {
    url: through.href,
    goDead() {
      dead = true
    },
  }
}
