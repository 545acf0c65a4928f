/** The number of messages that arrived since the outbox was last open. */
import { control } from './api.js'
import { useConfig } from './config.jsx'
import { EVERY_MS, useResource } from './widgets/resource.js'
import { createShared } from './widgets/shared.js'

const SEEN_KEY = 'standin-outbox-seen'

const lastSeen = createShared(localStorage.getItem(SEEN_KEY) ?? undefined)

/** Marks the message with this id and all older ones as seen. */
export function markSeen(id: string): void {
  localStorage.setItem(SEEN_KEY, id)
  lastSeen.set(id)
}

/** Also 0 if unknown: a live backend may send the messages, or the control API may be closed to the page. */
export function useUnseenMessages(): number {
  const isKeptHere = useConfig().auth_mode === 'local'
  const after = lastSeen.use()
  const { value, failure } = useResource(
    async signal => (isKeptHere ? (await control('GET /outbox', { query: { after, limit: 1 }, signal })).total : 0),
    [isKeptHere, after],
    EVERY_MS,
  )
  return failure ? 0 : (value ?? 0)
}
