/** Drafts a rule that repeats the answer to a request for a path. */
import { notForARule } from '../../core/errors.js'
import { type DraftSource, plain } from '../drafted-reply.js'
import { hasTemplate } from '../templates.js'
import { fieldsIn } from './input.js'
import { isDocumented, troubleWithRoute } from './route.js'

/** The conditions are the query and the simple fields of the body. Throws a PlatformError that says why no rule can be drafted. */
export function draftOnPath({ request, status, response }: DraftSource) {
  const { method, path, query = '', body } = request
  const on = `${method === 'HEAD' ? 'GET' : method} ${path}`
  if (isDocumented(on)) throw notForARule('what this endpoint answers is documented')
  const trouble = troubleWithRoute(on)
  if (trouble) throw notForARule(`${on} ${trouble}`)
  const when = {
    ...some('query', fieldsIn(new URLSearchParams(query))),
    ...(typeof body === 'object' && body !== null && !Array.isArray(body) && some('body', body)),
  }
  const says = { ...(status !== 200 && { status }), ...bodyIn(response) }
  const remarks = response.truncated ? ['The journal has only the beginning of the answer.'] : []
  return { rule: { on, ...(Object.keys(when).length > 0 && { when }), reply: says }, remarks }
}

const MOST_CONDITIONS = 5
const LONGEST = 120

/** Whether a text is short and has no special meaning in a condition: no stars, no slashes around it, no placeholder of a secret. */
const isSimple = (value: unknown) =>
  typeof value === 'number' ||
  typeof value === 'boolean' ||
  (typeof value === 'string' &&
    value.length > 0 &&
    value.length <= LONGEST &&
    !/[*?]|^\/|\[[a-z][a-z0-9-]*\]/.test(value))

function some(name: 'query' | 'body', values: object) {
  const simple = Object.entries(values).filter(([key, value]) => isSimple(value) && /^[\w-]+$/.test(key))
  return simple.length === 0 ? {} : { [name]: Object.fromEntries(simple.slice(0, MOST_CONDITIONS)) }
}

function bodyIn({ headers, body }: DraftSource['response']): object {
  const { 'content-type': type = '' } = headers
  if (body === undefined || body === null || body === '') return {}
  if (typeof body !== 'string')
    return hasTemplate(body) ? { text: plain(JSON.stringify(body)), headers: { 'content-type': type } } : { json: body }
  return {
    ...(!type.startsWith('text/plain') && type !== '' && { headers: { 'content-type': type } }),
    text: plain(body),
  }
}
