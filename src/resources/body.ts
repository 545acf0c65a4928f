/** Reads a row from the request body. A separate file, because it handles hostile input. */
import { emptyBody, invalidRequest, notJsonContent, tooDeep } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { isJsonType, isObject, isTooDeep, modestJsonBody, requireUnencoded } from '../core/json.js'
import type { Json } from '../core/state.js'
import { MOST_ROW_LEVELS } from './seed-rows.js'

/** Throws a 400 or 415 if it is not a JSON object. */
export function rowIn({ body, headers }: Pick<Exchange, 'body' | 'headers'>): Json {
  const { 'content-type': type, 'content-encoding': encoding } = headers
  if (type !== undefined && !isJsonType(type)) throw notJsonContent(type)
  requireUnencoded(encoding)
  if (!body || body.length === 0) throw emptyBody()
  const row = modestJsonBody(body)
  if (!isObject(row)) throw invalidRequest('The request body must be a JSON object.')
  requireShallow(row)
  return row as Json
}

export function requireShallow(row: object): void {
  if (isTooDeep(row, MOST_ROW_LEVELS)) throw tooDeep(MOST_ROW_LEVELS)
}
