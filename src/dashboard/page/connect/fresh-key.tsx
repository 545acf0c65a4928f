/** The key that was just created. Kept in the page's memory only, and removed from all views once it stops working. */
import { useEffect } from 'preact/hooks'
import type { NewApiKey } from '../../../keys/operations.js'
import { userApi, useSession } from '../session/session.js'
import { EVERY_MS, useResource } from '../widgets/resource.js'
import { createShared } from '../widgets/shared.js'

const freshKey = createShared<NewApiKey | undefined>(undefined)

export const useFreshKey = freshKey.use
export const setFreshKey = freshKey.set

/** Forgets the key with this id, for when it was revoked. */
export function forgetKey(id: string): void {
  if (freshKey.get()?.id === id) freshKey.set(undefined)
}

/** Forgets the key when it stops working, or when its user signs out. */
export function WatchFreshKey() {
  const session = useSession()
  const fresh = useFreshKey()
  // The next user must not see it.
  useEffect(() => {
    if (session.kind === 'signed-out') setFreshKey(undefined)
  }, [session.kind])
  return fresh ? <Watch key={fresh.id} id={fresh.id} /> : null
}

/** Checks whether the key still works, since it may expire or be revoked in another tab. */
function Watch({ id }: { readonly id: string }) {
  const { value: keys } = useResource(async signal => (await userApi('GET /keys', { signal })).data, [], EVERY_MS)
  useEffect(() => {
    if (keys && keys.find(key => key.id === id)?.state !== 'active') forgetKey(id)
  }, [keys])
  return null
}
