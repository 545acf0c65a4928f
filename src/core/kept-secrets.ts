/** How secrets are kept: as digests, so that a copy of the state opens nothing. */
import { hash } from 'node:crypto'
import type { TableName } from './state.js'

/** Under what a secret is kept and found: SHA-256, hex. Enough for random secrets, and quick to look up. */
export const digestOf = (secret: string) => hash('sha256', secret, 'hex')

type Row = Readonly<Record<string, unknown>>

const refreshToken = /^[a-z0-9]{12}$/

/** The forms of secrets in clear, as earlier versions kept them; a document that is written by hand may have them as well. */
const inClear: { readonly [N in TableName]?: Readonly<Record<string, RegExp>> } = {
  refresh_tokens: { token: refreshToken, parent: refreshToken },
  one_time_tokens: { token_hash: /^(pkce_)?[\da-f]{56}$/ },
  flow_states: { auth_code: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/ },
}

export const tablesWithSecrets = Object.keys(inClear) as readonly TableName[]

/** The row with digests in place of secrets in clear. */
export function withDigests(table: TableName, row: Row): Row {
  const digests = Object.entries(inClear[table] ?? {}).flatMap(([column, form]) => {
    const value = row[column]
    return typeof value === 'string' && form.test(value) ? [[column, digestOf(value)]] : []
  })
  return { ...row, ...Object.fromEntries(digests) }
}
