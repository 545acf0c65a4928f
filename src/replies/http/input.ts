/** A request for a path of one's own as rules see it, and how its body is read. */
import { encodedContent, invalidRequest, notJson } from '../../core/errors.js'
import type { Caller, Exchange } from '../../core/exchange.js'
import { jsonText, parseExact, requireModestJson } from '../../core/json.js'
import type { MatchInput } from '../dialect.js'
import { stepsOf } from './route.js'

/** What of an exchange rules look at. */
export type HttpRequest = Pick<Exchange, 'method' | 'path' | 'query' | 'headers' | 'caller' | 'scope' | 'body'>

export class HttpInput implements MatchInput {
  readonly headers: Exchange['headers']
  readonly caller: Caller
  readonly scope: string
  /** The steps of the path, decoded. */
  readonly steps: readonly string[]
  private parameters: URLSearchParams | undefined

  constructor(
    readonly request: HttpRequest,
    /** As `bodyOf` gives it. */
    readonly body: unknown,
  ) {
    this.headers = request.headers
    this.caller = request.caller
    this.scope = request.scope
    this.steps = stepsOf(request.path)
  }

  /** HEAD goes with GET. */
  get method(): string {
    return this.request.method === 'HEAD' ? 'GET' : this.request.method
  }

  get query(): URLSearchParams {
    this.parameters ??= new URLSearchParams(this.request.query)
    return this.parameters
  }

  get text(): string {
    return this.request.body?.toString() ?? ''
  }

  holder(per: 'caller' | 'conversation'): string {
    const { caller, headers } = this
    const who = `${caller.kind} ${'id' in caller ? caller.id : ''}`
    return per === 'caller' ? who : `${who} ${headers['x-conversation-id'] ?? ''}`
  }
}

/** More would take a while to read. */
const MOST_PARTS = 1000

/**
 * The body by its type: the value of JSON, the fields of a form by their names, the parts of a multipart form by theirs, else its text;
 * `undefined` without one. Throws, or rejects with, a 400 where it is not what it says it is.
 */
export function bodyOf({ body, headers }: Pick<HttpRequest, 'body' | 'headers'>): unknown {
  if (!body || body.length === 0) return undefined
  const { 'content-type': type = '', 'content-encoding': encoding } = headers
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw encodedContent(encoding)
  const [kind = ''] = type.toLowerCase().split(';')
  if (/^(application|text)\/([\w.-]+\+)?json$/.test(kind.trim())) return jsonIn(body)
  if (kind.trim() === 'application/x-www-form-urlencoded') return fieldsIn(new URLSearchParams(body.toString()))
  if (kind.trim() === 'multipart/form-data') return partsIn(body, type)
  return body.toString()
}

function jsonIn(body: Buffer): unknown {
  requireModestJson(body)
  try {
    return parseExact(jsonText(body))
  } catch (error) {
    throw notJson((error as Error).message)
  }
}

/** A field that is there several times is a list. */
export function fieldsIn(entries: Iterable<readonly [string, unknown]>): Readonly<Record<string, unknown>> {
  const fields = new Map<string, unknown[]>()
  for (const [name, value] of entries) {
    const before = fields.get(name)
    if (before) before.push(value)
    else fields.set(name, [value])
  }
  return Object.fromEntries([...fields].map(([name, values]) => [name, values.length > 1 ? values : values[0]]))
}

async function partsIn(body: Buffer, type: string): Promise<unknown> {
  const [, quoted, plain] = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) throw invalidRequest('The Content-Type of a multipart form must name its boundary.')
  if (countOf(body, `--${boundary}`) > MOST_PARTS + 1)
    throw invalidRequest(`The request body has more than ${MOST_PARTS} parts.`)
  try {
    const form = await new Response(Uint8Array.from(body), { headers: { 'content-type': type } }).formData()
    return fieldsIn(await Promise.all([...form].map(async ([name, part]) => [name, await partOf(part)] as const)))
  } catch {
    throw invalidRequest('The request body is not the multipart form that its Content-Type says it is.')
  }
}

/** A file is its name, its type, its size and its text. */
const partOf = async (part: string | File) =>
  typeof part === 'string' ? part : { filename: part.name, type: part.type, size: part.size, text: await part.text() }

function countOf(body: Buffer, part: string): number {
  let count = 0
  for (let at = body.indexOf(part); at >= 0 && count <= MOST_PARTS + 1; at = body.indexOf(part, at + 1)) count++
  return count
}
