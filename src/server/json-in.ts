/** Reads what the control API is told: a JSON body of a form that is known. */
import type { IncomingMessage } from 'node:http'
import type { GenericSchema, InferOutput } from 'valibot'
import { check } from '../check/check.js'
import { emptyBody, invalidRequest, notJson, PlatformError, unreadableRequest } from '../core/errors.js'
import { requireModestJson } from '../core/json.js'
import { readBody, requireJson } from './body.js'

/** Most of what is told here does not come near it. */
export const CONTROL_LIMIT_BYTES = 65_536

type Parse = (text: string) => unknown

interface Reading {
  readonly mostValues?: number
  /** JSON.parse without one. */
  readonly parse?: Parse | undefined
}

/** Rejects with a PlatformError that names the first thing that is wrong. */
export async function jsonIn<S extends GenericSchema>(
  request: IncomingMessage,
  schema: S,
  limitBytes = CONTROL_LIMIT_BYTES,
  { mostValues, parse = JSON.parse }: Reading = {},
): Promise<InferOutput<S>> {
  const body = await anyJsonIn(request, limitBytes, bytes => {
    requireModestJson(bytes, mostValues)
    return parse(bytes.toString('utf8'))
  })
  const checked = check(schema, body, { firstOnly: true, whole: 'The request body' })
  if ('value' in checked) return checked.value
  throw invalidRequest(checked.mistakes[0]?.sentence ?? 'The request body is not of the form that is asked for.')
}

/** What `parse` makes of the body. Rejects with a PlatformError for one that is no JSON, is longer, or that `parse` refuses. */
export async function anyJsonIn(
  request: IncomingMessage,
  limitBytes: number,
  parse: (body: Buffer) => unknown,
): Promise<unknown> {
  requireJson(request)
  const body = await new Promise<Buffer | PlatformError | undefined>(done => readBody(request, limitBytes, done))
  if (body instanceof PlatformError) throw body
  // The client has left.
  if (!body) throw unreadableRequest()
  if (body.length === 0) throw emptyBody()
  try {
    return await parse(body)
  } catch (error) {
    throw error instanceof SyntaxError ? notJson(error.message) : error
  }
}
