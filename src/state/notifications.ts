/** Listens to the announcements of other processes in PostgreSQL, on its own connection, which reconnects by itself. */
import { Socket } from 'node:net'
import pg from 'pg'

interface Channel {
  readonly settings: pg.ClientConfig
  readonly channel: string
  /** Called with each announcement; without an argument if some may have been missed. */
  notified(announcement?: string): void
}

export type Hearing = Awaited<ReturnType<typeof hear>>

/** No change goes unnoticed for longer than this, even without a connection. */
const DEAF_MS = 500
/** A connection may die silently, for example when a cable is pulled. It is checked this often, */
const BEAT_MS = 250
/** and considered dead if it does not answer for this long. */
const SILENCE_MS = 400
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000

/** Resolves when it is listening; rejects if the first connection fails. */
export async function hear(channel: Channel) {
  const { notified } = channel
  let ended = false
  let socket = new Socket()
  let deaf: NodeJS.Timeout | undefined
  let retry: NodeJS.Timeout | undefined

  async function connect() {
    socket = new Socket()
    await listenOn(socket, channel, lose)
    clearInterval(deaf)
  }

  function lose() {
    if (ended) return
    notified()
    deaf = setInterval(notified, DEAF_MS).unref()
    tryAgain(FIRST_PAUSE_MS)
  }

  function tryAgain(pauseMs: number) {
    if (ended) return
    const later = () => tryAgain(Math.min(pauseMs * 2, LONGEST_PAUSE_MS))
    const recovered = () => notified()
    retry = setTimeout(() => connect().then(recovered, later), pauseMs).unref()
  }

  await connect()
  return {
    /** Ends at once, whatever the connection is doing. */
    end(): void {
      ended = true
      clearInterval(deaf)
      clearTimeout(retry)
      socket.destroy()
    },
  }
}

/** Connects, and calls `lose` when the connection has ended. Rejects if there is no connection. */
async function listenOn(socket: Socket, { settings, channel, notified }: Channel, lose: () => void): Promise<void> {
  const listen = `listen ${pg.escapeIdentifier(channel)}`
  const client = new pg.Client({ ...settings, stream: () => socket })
  // The end of the connection is always reported too.
  client.on('error', () => {})
  client.on('notification', ({ payload }) => notified(payload))
  try {
    await client.connect()
    await client.query(listen)
  } catch (error) {
    socket.destroy()
    throw error
  }
  // Listening twice has no further effect.
  const beat = createBeat(socket, () => client.query(listen))
  client.once('end', () => {
    clearInterval(beat)
    lose()
  })
}

/** Checks the connection regularly and destroys its socket if there is no answer. */
function createBeat(socket: Socket, ask: () => Promise<unknown>): NodeJS.Timeout {
  const beat = setInterval(() => {
    const silence = setTimeout(() => socket.destroy(), SILENCE_MS).unref()
    const heardFrom = () => clearTimeout(silence)
    ask().then(heardFrom, heardFrom)
  }, BEAT_MS)
  return beat.unref()
}
