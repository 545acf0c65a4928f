/** Drafts a rule that repeats the answer to a request for a path. */
import { dataOf, eventsIn } from '../../chat/events.js'
import { notForARule } from '../../core/errors.js'
import { isObject, jsonOf } from '../../core/json.js'
import { hasTemplate } from '../templates.js'
import { fieldsIn } from './input.js'
import { isDocumented, whyInvalidRoute } from './route.js'

/** An exchange as the journal shows it, without secrets. */
export interface DraftSource {
  readonly request: { readonly method: string; readonly path: string; readonly query?: string; readonly body?: unknown }
  readonly status: number | null
  readonly complete: boolean
  readonly error: string | null
  readonly firstByteMs: number | null
  readonly response: {
    readonly headers: Readonly<Record<string, string>>
    readonly body?: unknown
    readonly truncated: boolean
    readonly piecesAtMs: readonly number[]
  }
}

/** The conditions are the query and the simple fields of the body. Throws a PlatformError that says why no rule can be drafted. */
export function draftOnPath(source: DraftSource) {
  const { request, status, response } = source
  const { method, path, query = '', body } = request
  const on = `${method} ${path}`
  if (isDocumented(on)) throw notForARule("the platform's document defines the answers of this endpoint")
  if (method === 'HEAD') throw notForARule('the rule for GET answers HEAD')
  const trouble = whyInvalidRoute(on)
  if (trouble) throw notForARule(`${on} ${trouble}`)
  const when = {
    ...conditionsOn('query', fieldsIn(new URLSearchParams(query))),
    ...conditionsOn('body', isObject(body) ? body : formIn(body)),
  }
  const { body: content, type } = bodyIn(response)
  const headers = { ...(type !== undefined && { 'content-type': type }), ...headersOf(response) }
  const answer = { ...(Object.keys(headers).length > 0 && { headers }), ...content }
  // A reply must not be empty.
  const reply = status === 200 && Object.keys(answer).length > 0 ? answer : { status, ...answer }
  const remarks = response.truncated ? ['The journal has only the beginning of the answer.'] : []
  const pace = content.events ? paceOf(source, content.events.length) : {}
  return { rule: { on, ...(Object.keys(when).length > 0 && { when }), reply, ...pace }, remarks }
}

/** Escapes text that looks like a template. */
export const plain = (text: string) => (hasTemplate(text) ? `{% raw %}${text}{% endraw %}` : text)

/** Faster than this counts as "as fast as possible". */
const NO_TIME_MS = 20

/** The pace of an answer with this many pieces; empty if it came all at once. */
export function paceOf(
  { firstByteMs, response: { piecesAtMs } }: Pick<DraftSource, 'firstByteMs' | 'response'>,
  events: number,
) {
  const [first = 0] = piecesAtMs
  const spanMs = (piecesAtMs.at(-1) ?? 0) - first
  if (piecesAtMs.length < 2 || spanMs < NO_TIME_MS) return {}
  const perSecond = ((Math.max(events, piecesAtMs.length) - 1) * 1000) / spanMs
  const tokensPerSecond = Math.max(1, Math.round(perSecond))
  return { pace: { firstTokenMs: Math.round((firstByteMs ?? 0) + first), tokensPerSecond } }
}

/** Headers with information that the body does not have. */
const meaningfulHeaders = ['location', 'retry-after', 'link'] as const

const headersOf = ({ headers }: DraftSource['response']) =>
  Object.fromEntries(
    meaningfulHeaders.flatMap(name => (headers[name] === undefined ? [] : [[name, plain(headers[name])]])),
  )

/** The fields of a form, which is a text by itself. */
const formIn = (body: unknown): object =>
  typeof body === 'string' && /^[^\s=&]+=\S*$/.test(body) ? fieldsIn(new URLSearchParams(body)) : {}

const MOST_CONDITIONS = 5
const LONGEST = 120

/** Whether a text is short and has no special meaning in a condition: no stars, no slashes around it, no placeholder of a secret. */
const isSimple = (value: unknown) =>
  typeof value === 'number' ||
  typeof value === 'bigint' ||
  typeof value === 'boolean' ||
  (typeof value === 'string' &&
    value.length > 0 &&
    value.length <= LONGEST &&
    !/[*?]|^\/|\[[a-z][a-z0-9-]*\]/.test(value))

function conditionsOn(name: 'query' | 'body', values: object) {
  const simple = Object.entries(values).filter(([key, value]) => isSimple(value) && /^[\w-]+$/.test(key))
  return simple.length === 0 ? {} : { [name]: Object.fromEntries(simple.slice(0, MOST_CONDITIONS)) }
}

/** The body of a reply, and its content type where that does not follow from it. */
function bodyIn({ headers, body }: DraftSource['response']): {
  body: { events?: readonly object[]; json?: unknown; text?: string }
  type?: string
} {
  const { 'content-type': type = '' } = headers
  if (body === undefined || body === null || body === '') return { body: {} }
  if (typeof body !== 'string')
    return hasTemplate(body) ? { body: { text: plain(JSON.stringify(body)) }, type } : { body: { json: body } }
  if (/^text\/event-stream\b/i.test(type)) return { body: { events: eventsOf(body) } }
  const isUsual = type.startsWith('text/plain') || type === ''
  return { body: { text: plain(body) }, ...(!isUsual && { type }) }
}

/** The events of a stream. Their data is JSON where possible, which reads better. */
function eventsOf(body: string): readonly object[] {
  return eventsIn(Buffer.from(body)).flatMap(event => {
    const data = dataOf(event)
    if (data === undefined) return []
    const fields = Object.fromEntries(
      ['event', 'id'].flatMap(name => {
        const [, value] = new RegExp(`^${name}: ?(.*?)\\r?$`, 'm').exec(event.toString()) ?? []
        return value === undefined ? [] : [[name, plain(value)]]
      }),
    )
    const value = jsonOf(data)
    return [{ ...fields, data: value === undefined || hasTemplate(value) ? plain(data) : value }]
  })
}
