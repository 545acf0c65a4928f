/** Listens to what other processes announce in PostgreSQL, over a connection of its own that reconnects by itself. */
import { Socket } from 'node:net'
import pg from 'pg'

interface Channel {
  readonly settings: pg.ClientConfig
  readonly channel: string
  /** Called with what was announced; without anything when something may have been missed. */
  heard(announcement?: string): void
}

export type Hearing = Awaited<ReturnType<typeof hear>>

/** Nothing goes unnoticed for longer, even when the connection is away. */
const DEAF_MS = 500
/** A connection may go dead without a word, a cable pulled; so it is asked this often whether it is there, */
const BEAT_MS = 250
/** and taken for gone when it does not answer for so long. */
const SILENCE_MS = 400
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000

/** Resolves when it hears; rejects when the first connection fails. */
export async function hear({ settings, channel, heard }: Channel) {
  const listen = `listen ${pg.escapeIdentifier(channel)}`
  let ended = false
  let socket = new Socket()
  let deaf: NodeJS.Timeout | undefined
  let retry: NodeJS.Timeout | undefined

  async function connect() {
    const own = new Socket()
    socket = own
    const client = new pg.Client({ ...settings, stream: () => own })
    // The end of the connection reports this as well, and always comes.
    client.on('error', () => {})
    client.on('notification', ({ payload }) => heard(payload))
    try {
      await client.connect()
      await client.query(listen)
    } catch (error) {
      own.destroy()
      throw error
    }
    // To listen twice is to listen once.
    const beat = createBeat(own, () => client.query(listen))
    client.once('end', () => {
      clearInterval(beat)
      lose()
    })
  }

  function lose() {
    if (ended) return
    heard()
    deaf = setInterval(heard, DEAF_MS).unref()
    tryAgain(FIRST_PAUSE_MS)
  }

  function tryAgain(pauseMs: number) {
    if (ended) return
    const later = () => tryAgain(Math.min(pauseMs * 2, LONGEST_PAUSE_MS))
    retry = setTimeout(() => connect().then(recover, later), pauseMs).unref()
  }

  function recover() {
    clearInterval(deaf)
    heard()
  }

  await connect()
  return {
    /** At once, whatever the connection is doing. */
    end(): void {
      ended = true
      clearInterval(deaf)
      clearTimeout(retry)
      socket.destroy()
    },
  }
}

/** Asks again and again whether the connection is there, and lets go of its socket when no answer comes. */
function createBeat(socket: Socket, ask: () => Promise<unknown>): NodeJS.Timeout {
  const beat = setInterval(() => {
    const silence = setTimeout(() => socket.destroy(), SILENCE_MS).unref()
    const heardFrom = () => clearTimeout(silence)
    ask().then(heardFrom, heardFrom)
  }, BEAT_MS)
  return beat.unref()
}
