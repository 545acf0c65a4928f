/** Whose the credentials are that have used something of their limits. */
import type { State, Tables } from '../core/state.js'
import type { Usage } from '../limits/index.js'

/** What a credential has used in its minute, with a name for it that is no secret. */
export interface NamedUsage extends Omit<Usage, 'key'> {
  /** `apiKey`, `user`, `anon`, `service`, or `stranger`: one that only the live platform can judge. */
  readonly kind: string
  /** Of the key, or of the user; nothing where there is none. */
  readonly id?: string
  /** What its owner calls the key, or the address of the user; nothing where nobody knows. */
  readonly name?: string
  /** The first characters of the key. */
  readonly start?: string
}

/** Names them, whoever has used most first. */
export async function named(state: () => Promise<State>, usages: readonly Usage[]): Promise<readonly NamedUsage[]> {
  if (usages.length === 0) return []
  const all = await (await state()).read(tables => Promise.all(usages.map(usage => nameOf(tables, usage))))
  return all.toSorted((a, b) => b.requests + b.refused - (a.requests + a.refused))
}

async function nameOf({ api_keys, users }: Tables, { key, ...usage }: Usage): Promise<NamedUsage> {
  const [kind = '', id] = key.split(' ', 2)
  if (id === undefined) return { kind, ...usage }
  if (kind === 'apiKey') {
    const row = await api_keys.get(id)
    return { kind, id, ...(row && { name: row.name, start: row.start }), ...usage }
  }
  // Of a stranger there is a digest, and nothing that anybody knows it by.
  if (kind !== 'user') return { kind, ...usage }
  const name = (await users.get(id))?.email
  return { kind, id, ...(name && { name }), ...usage }
}
