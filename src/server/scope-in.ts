/** Reads which scope a call of the control API is about. */
import type { Request } from 'express'
import { SCOPE_HEADER } from '../core/scope.js'

/** What the query says, or else the header; nothing where neither does. */
export function scopeIn({ query, headers }: Request): string | undefined {
  const named = query.scope ?? headers[SCOPE_HEADER]
  return typeof named === 'string' ? named : undefined
}
