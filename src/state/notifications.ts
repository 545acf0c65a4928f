/** Listens for announcements of other processes in PostgreSQL, on a connection of its own that reconnects by itself. */
import { Socket } from 'node:net'
import pg from 'pg'

interface Channel {
  readonly settings: pg.ClientConfig
  readonly channel: string
  /** Called with each announcement; without an argument if some may have been missed. */
  onAnnouncement(announcement?: string): void
}

export type AnnouncementListener = Awaited<ReturnType<typeof listenForAnnouncements>>

/** While there is no connection, announcements may be missed, so a change is assumed this often. */
const POLL_MS = 500
/** A connection may die silently, for example when a cable is pulled, so it is checked this often. */
const HEARTBEAT_MS = 250
/** A connection that does not answer for this long is considered dead. */
const HEARTBEAT_TIMEOUT_MS = 400
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000

/** Resolves when it is listening; rejects if the first connection fails. */
export async function listenForAnnouncements(channel: Channel) {
  const { onAnnouncement } = channel
  let ended = false
  let socket = new Socket()
  let pollTimer: NodeJS.Timeout | undefined
  let retryTimer: NodeJS.Timeout | undefined

  async function connect() {
    socket = new Socket()
    await listenOn(socket, channel, onLost)
    clearInterval(pollTimer)
  }

  function onLost() {
    if (ended) return
    onAnnouncement()
    pollTimer = setInterval(onAnnouncement, POLL_MS).unref()
    reconnectAfter(FIRST_PAUSE_MS)
  }

  function reconnectAfter(pauseMs: number) {
    if (ended) return
    const retryLater = () => reconnectAfter(Math.min(pauseMs * 2, LONGEST_PAUSE_MS))
    const recovered = () => onAnnouncement()
    retryTimer = setTimeout(() => connect().then(recovered, retryLater), pauseMs).unref()
  }

  await connect()
  return {
    /** Ends at once, whatever the connection is doing. */
    end(): void {
      ended = true
      clearInterval(pollTimer)
      clearTimeout(retryTimer)
      socket.destroy()
    },
  }
}

/** Connects, and calls `onLost` when the connection has ended. Rejects if it cannot connect. */
async function listenOn(
  socket: Socket,
  { settings, channel, onAnnouncement }: Channel,
  onLost: () => void,
): Promise<void> {
  const listen = `listen ${pg.escapeIdentifier(channel)}`
  const client = new pg.Client({ ...settings, stream: () => socket })
  // After an error, `end` follows.
  client.on('error', () => {})
  client.on('notification', ({ payload }) => onAnnouncement(payload))
  try {
    await client.connect()
    await client.query(listen)
  } catch (error) {
    socket.destroy()
    throw error
  }
  // Sending LISTEN again has no effect, so it serves as a ping.
  const heartbeat = startHeartbeat(socket, () => client.query(listen))
  client.once('end', () => {
    clearInterval(heartbeat)
    onLost()
  })
}

/** Checks the connection regularly and destroys its socket if there is no answer. */
function startHeartbeat(socket: Socket, ping: () => Promise<unknown>): NodeJS.Timeout {
  const heartbeat = setInterval(() => {
    const timeout = setTimeout(() => socket.destroy(), HEARTBEAT_TIMEOUT_MS).unref()
    const answered = () => clearTimeout(timeout)
    ping().then(answered, answered)
  }, HEARTBEAT_MS)
  return heartbeat.unref()
}
