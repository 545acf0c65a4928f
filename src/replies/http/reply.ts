/** The replies of rules for paths: a status, headers and a body. */
import path from 'node:path'
import type { Path } from '../../check/check.js'
import { inlineYaml } from '../../check/yaml.js'
import type { Fault } from '../../core/fault.js'
import { headerValueOf } from '../../core/http.js'
import { stringifyExact } from '../../core/json.js'
import type { PaceInput } from '../../core/pace.js'
import { type AnsweredBy, asUtf8 } from '../../core/reply.js'
import type { ReadyReply, ReplyOwner, Texts } from '../dialect.js'
import { seedOfTexts } from '../fake.js'
import {
  commonFacts,
  type FactTable,
  filePart,
  generatedFrom,
  isTemplateFile,
  joined,
  mapped,
  type NamedTexts,
  namesOfFacts,
  type ReplyPart,
  textPart,
  valuePart,
} from '../parts.js'
import { hasTemplate, TemplateError } from '../templates.js'
import type { HttpReplyForm, HttpRule } from './form.js'
import { fieldsIn, type HttpInput } from './input.js'
import { paramsIn, routeOf } from './route.js'

/** A generated answer. Without templates, it is the same object each time. */
export interface HttpGeneration {
  readonly status: number
  /** As node's flat array. */
  readonly headers: readonly string[]
  readonly contentType: string
  /** A list is a stream of these pieces. */
  readonly body: string | Buffer | readonly string[]
  readonly pace?: PaceInput
  readonly fault?: Fault
  readonly answeredBy: AnsweredBy
}

/** What the templates of rules for paths can use. */
const facts: FactTable<HttpInput> = {
  ...commonFacts,
  params: ({ input, owner }) => paramsIn(routeOf((owner.rule as HttpRule).on), input.steps),
  query: ({ input }) => fieldsIn(input.query),
  body: ({ input }) => input.body,
  method: ({ input }) => input.request.method,
  path: ({ input }) => input.request.path,
}

/** Compiles a reply. `at` is its position in the rule. */
export function httpReplyOf(
  form: HttpReplyForm,
  at: Path,
  owner: ReplyOwner,
  texts: Texts,
): ReadyReply<HttpGeneration> {
  const { status = 200, fault, headers: written = {} } = form
  const { answeredBy, pace } = owner
  const httpTexts = { ...texts, names: namesOfFacts(facts) }
  const headers = Object.entries(written).filter(([name, text]) => {
    const isRight = hasTemplate(text) || headerValueOf(name, text) !== undefined
    if (!isRight) texts.complain([...at, 'headers', name], notSendable(name))
    return isRight
  })
  const content = mapped(
    joined<unknown>([
      valuePart(Object.fromEntries(headers), [...at, 'headers'], httpTexts),
      bodyPart(form, at, httpTexts),
    ]),
    ([headers, body]): HttpGeneration => ({
      ...withHeaders(headers as Readonly<Record<string, unknown>>, body as Body),
      status,
      answeredBy,
      ...(fault && { fault }),
      ...(pace && { pace }),
    }),
  )
  return {
    fault,
    mayBeSkipped: false,
    ...generatedFrom(content, {
      owner,
      facts,
      seed: ({ request }: HttpInput) =>
        seedOfTexts([texts.seed, request.method, request.path, request.query, request.body?.toString('latin1')]),
    }),
  }
}

/** Formats an answer as lines of text. */
export function linesOfHttpReply({ status, contentType, headers, body, fault }: HttpGeneration): readonly string[] {
  const pairs = contentType === '' ? headers : ['content-type', contentType, ...headers]
  const text = Buffer.isBuffer(body) ? `(${body.length} bytes)` : [body].flat().join('')
  return [
    `status ${status}`,
    ...pairs.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${pairs[i + 1]}`] : [])),
    ...(text === '' ? [] : [text]),
    ...(fault ? [`fault ${inlineYaml(fault)}`] : []),
  ]
}

type Body = Pick<HttpGeneration, 'contentType' | 'body'>

function bodyPart(form: HttpReplyForm, at: Path, texts: NamedTexts): ReplyPart<Body> {
  if ('json' in form) {
    const jsonBody = (value: unknown) => ({ contentType: 'application/json', body: stringifyExact(value ?? null) })
    return mapped(valuePart(form.json, [...at, 'json'], texts), jsonBody)
  }
  if (form.events) {
    const eventsBody = (events: unknown) => ({
      contentType: 'text/event-stream; charset=utf-8',
      body: (events as readonly Readonly<Record<string, unknown>>[]).map(eventText),
    })
    return mapped(valuePart(form.events, [...at, 'events'], texts), eventsBody)
  }
  const { file } = form
  if (file !== undefined)
    return mapped(filePart(file, at, texts), (body = '') => ({ contentType: typeOf(file, body), body }))
  if (form.text === undefined) return { fixed: { contentType: '', body: '' } }
  const textBody = (body: string) => ({ contentType: 'text/plain; charset=utf-8', body })
  return mapped(textPart(form.text, [...at, 'text'], texts), textBody)
}

/** HTML Standard §9.2.6: a line break in a text begins another data line. */
function eventText({ event, data, id, retry }: Readonly<Record<string, unknown>>): string {
  const text = typeof data === 'string' ? data : stringifyExact(data ?? null)
  const line = (name: string, value: unknown) =>
    value === undefined ? '' : `${name}: ${String(value).replace(/[\r\n]+/g, ' ')}\n`
  const lines = text.split(/\r\n|\r|\n/).map(part => `data: ${part}\n`)
  return `${line('event', event)}${line('id', id)}${line('retry', retry)}${lines.join('')}\n`
}

const types: Readonly<Record<string, string>> = {
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.csv': 'text/csv; charset=utf-8',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.pdf': 'application/pdf',
  '.zip': 'application/zip',
}

function typeOf(file: string, body: string | Buffer): string {
  const name = isTemplateFile(file) ? file.slice(0, -'.liquid'.length) : file
  const usual = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/octet-stream'
  return types[path.extname(name).toLowerCase()] ?? usual
}

const notSendable = (name: string) =>
  `The header ${name} would have a character that no header may have. Remove or encode it.`

function withHeaders(written: Readonly<Record<string, unknown>>, body: Body): Body & Pick<HttpGeneration, 'headers'> {
  let { contentType } = body
  const headers = Object.entries(written).flatMap(([name, value]) => {
    const text = headerValueOf(name, String(value ?? ''))
    if (text === undefined) throw new TemplateError(notSendable(name), 1, 1, [])
    if (name.toLowerCase() !== 'content-type') return [name, text]
    // The bytes of a file are sent as they are.
    contentType = Buffer.isBuffer(body.body) ? text : asUtf8(text)
    return []
  })
  return { ...body, contentType, headers }
}
