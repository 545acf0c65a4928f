/** A request as rules for paths see it, and how its body is read. */
import { invalidRequest } from '../../core/errors.js'
import type { Caller, Exchange } from '../../core/exchange.js'
import { exactJsonBody, mayBeJson, requireUnencoded } from '../../core/json.js'
import { lookupMethod } from '../../core/paths.js'
import type { MatchInput } from '../conditions/value-tests.js'
import { fingerprintOf } from '../fingerprint.js'
import { stepsOfPath } from './route.js'

/** The parts of an exchange that rules use. */
export type HttpRequest = Pick<Exchange, 'method' | 'path' | 'query' | 'headers' | 'caller' | 'scope' | 'body'>

export class HttpInput implements MatchInput {
  readonly headers: Exchange['headers']
  readonly caller: Caller
  readonly scope: string
  readonly isDemanding = false
  readonly steps: readonly string[]
  private parameters: URLSearchParams | undefined

  constructor(
    readonly request: HttpRequest,
    /** The result of `bodyOf`. */
    readonly body: unknown,
  ) {
    this.headers = request.headers
    this.caller = request.caller
    this.scope = request.scope
    this.steps = stepsOfPath(request.path)
  }

  /** HEAD counts as GET. */
  get method(): string {
    return lookupMethod(this.request.method)
  }

  get query(): URLSearchParams {
    this.parameters ??= new URLSearchParams(this.request.query)
    return this.parameters
  }

  get text(): string {
    return this.request.body?.toString() ?? ''
  }

  get conversation(): string {
    return String(this.headers['x-conversation-id'] ?? '')
  }

  /** Of a body that is a text, its bytes count: a picture is no text. */
  get fingerprint(): string {
    const body = typeof this.body === 'string' ? this.request.body?.toString('base64') : this.body
    return fingerprintOf([[...this.query].toSorted(), body])
  }
}

/** A promise only for a multipart form. Throws, or rejects with, a 400 if the body is not what its Content-Type says. */
export function inputOf(request: HttpRequest): HttpInput | Promise<HttpInput> {
  const body = bodyOf(request)
  return body instanceof Promise ? body.then(read => new HttpInput(request, read)) : new HttpInput(request, body)
}

/**
 * Parses the body by its Content-Type: the value of JSON, the fields of a form or the parts of a multipart form by name, otherwise its
 * text; `undefined` without a body. Throws, or rejects with, a 400 if the body is not what its Content-Type says.
 */
export function bodyOf({ body, headers }: Pick<HttpRequest, 'body' | 'headers'>): unknown {
  if (!body || body.length === 0) return undefined
  const { 'content-type': type = '', 'content-encoding': encoding } = headers
  requireUnencoded(encoding)
  const [kind = ''] = type.toLowerCase().split(';')
  if (mayBeJson(type)) return exactJsonBody(body)
  if (kind.trim() === 'application/x-www-form-urlencoded') {
    requireFewFields(occurrencesOf(body, '&') + 1)
    return fieldsIn(new URLSearchParams(body.toString()))
  }
  if (kind.trim() === 'multipart/form-data') return partsIn(body, type)
  return body.toString()
}

/** A field that occurs several times becomes a list. */
export function fieldsIn(entries: Iterable<readonly [string, unknown]>): Readonly<Record<string, unknown>> {
  const fields = Map.groupBy(entries, ([name]) => name)
  const oneOrAll = (given: readonly (readonly [string, unknown])[]) =>
    given.length > 1 ? given.map(([, value]) => value) : given[0]?.[1]
  return Object.fromEntries([...fields].map(([name, given]) => [name, oneOrAll(given)]))
}

async function partsIn(body: Buffer, type: string): Promise<unknown> {
  const [, quoted, plain] = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) throw invalidRequest('The Content-Type of a multipart form must name its boundary.')
  // The last boundary ends the form.
  requireFewFields(occurrencesOf(body, `--${boundary}`) - 1)
  try {
    const form = await new Response(Uint8Array.from(body), { headers: { 'content-type': type } }).formData()
    return fieldsIn(await Promise.all([...form].map(async ([name, part]) => [name, await partOf(part)] as const)))
  } catch {
    throw invalidRequest('The request body is not the multipart form that its Content-Type says it is.')
  }
}

/** Reading more would take too long. */
const MOST_FIELDS = 1000

/** A file becomes an object with its name, type, size and text. */
const partOf = async (part: string | File) =>
  typeof part === 'string' ? part : { filename: part.name, type: part.type, size: part.size, text: await part.text() }

function requireFewFields(count: number): void {
  if (count > MOST_FIELDS) throw invalidRequest(`The request body has more than ${MOST_FIELDS} fields.`)
}

function occurrencesOf(body: Buffer, part: string): number {
  let count = 0
  for (let at = body.indexOf(part); at >= 0 && count <= MOST_FIELDS + 1; at = body.indexOf(part, at + 1)) count++
  return count
}
