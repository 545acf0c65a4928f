/** Reads the JSON bodies that the dashboard's API is sent. */
import type { Request } from 'express'
import { check } from '../check/check.js'
import {
  bodyTooLarge,
  emptyBody,
  encodedContent,
  invalidRequest,
  notJson,
  notJsonContent,
  unreadableRequest,
} from '../core/errors.js'
import { requireModestJson } from '../core/json.js'

/** Nothing that is asked of the API comes near it. */
const LIMIT_BYTES = 65_536

type Schema = Parameters<typeof check>[0]
type Checked<S extends Schema> = Extract<ReturnType<typeof check<S>>, { value: unknown }>['value']

/**
 * The body as `schema` has it; `whenEmpty` stands for a body that is not there.
 * Throws a 415 for another content type, a 413 for too much, and a 400 that names the first thing that is wrong.
 */
export async function readBody<S extends Schema>(request: Request, schema: S, whenEmpty?: unknown) {
  requireJson(request)
  const body = await bytesOf(request)
  if (body.length === 0 && whenEmpty === undefined) throw emptyBody()
  return checked(schema, body.length === 0 ? whenEmpty : parsed(body), 'The request body')
}

/** `value` as `schema` has it. Throws a 400 that names the first thing that is wrong. */
export function checked<S extends Schema>(schema: S, value: unknown, whole: string): Checked<S> {
  const result = check(schema, value, { firstOnly: true, whole })
  if ('value' in result) return result.value
  throw invalidRequest(result.mistakes[0]?.sentence ?? `${whole} cannot be read.`)
}

/** As on the platform's own endpoints, a missing Content-Type is read as JSON. */
function requireJson(request: Request): void {
  const { 'content-type': type, 'content-encoding': encoding } = request.headers
  if (type !== undefined && !/^application\/json[ \t]*(;|$)/i.test(type)) throw notJsonContent(type)
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw encodedContent(encoding)
}

async function bytesOf(request: Request): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    // A body that is too large must not take the connection with it, or nobody could be told.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > LIMIT_BYTES) break
      chunks.push(chunk)
    }
  } catch {
    throw unreadableRequest()
  }
  if (size > LIMIT_BYTES) {
    // What is left of it would stand before the next request of this connection.
    request.resume()
    throw bodyTooLarge(LIMIT_BYTES)
  }
  return Buffer.concat(chunks)
}

function parsed(body: Buffer): unknown {
  requireModestJson(body)
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (error) {
    throw notJson((error as Error).message)
  }
}
