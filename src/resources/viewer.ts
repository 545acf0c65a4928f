/** Decides whose rows a caller sees: their own, as with row-level security. A separate file, because rows do not depend on keys. */
import type { Caller } from '../core/caller.js'
import type { Tables } from '../core/state.js'
import type { Viewer } from './rows.js'

/** An API key acts as its owner, and the service key sees all rows. */
export async function viewerOf({ api_keys }: Tables, caller: Caller): Promise<Viewer> {
  if (caller.kind === 'service') return { user: null, seesAll: true }
  if (caller.kind === 'user') return { user: caller.id, seesAll: false }
  const key = caller.kind === 'apiKey' ? await api_keys.get(caller.id) : undefined
  return { user: key?.user_id ?? null, seesAll: false }
}
