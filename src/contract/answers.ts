/** The judge of live, recorded and verified answers. */
import * as v from 'valibot'
import { chunkAnswer, errorEventAnswer } from '../chat/completion.js'
import { createEventSplitter, dataOf } from '../chat/events.js'
import { check, pathInWords } from '../check/check.js'
import type { Violation } from '../check/finding.js'
import { open, text } from '../check/forms.js'
import type { DocumentedEndpoint, DocumentedForm, Exchange } from '../core/exchange.js'
import { decompress, headerIn, replyBytes } from '../core/http.js'
import { isJsonType, jsonOf } from '../core/json.js'
import { percentDecoded } from '../core/paths.js'
import type { Reply, UpstreamResponse } from '../core/reply.js'
import { documentedAt } from '../endpoints/index.js'
import type { Call, ReceivedAnswer } from './target.js'

/** Documented ("Error object"): always a text, never OpenAI's object. */
export const errorAnswer = open({ error: text })

/** Documented: with the requested path. */
export const notFoundAnswer = open({ error: text, path: v.pipe(text, v.startsWith('/', 'a path')) })

/** An answer to check: a live one, or a recording. */
interface JudgedAnswer {
  /** `undefined` if the path is not documented. */
  readonly endpoint: Pick<DocumentedEndpoint, 'answer' | 'callsModel'> | undefined
  readonly method: string
  readonly path: string
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
  readonly isWhole: boolean
  /** The relevant options of a chat request; `undefined` if the request cannot be read. */
  readonly requested: { readonly stream: boolean; readonly usage: boolean } | undefined
  /** Whether sentences may quote values, which may be secret. */
  readonly isQuoted: boolean
}

/**
 * Returns `undefined` if the answer is our own, was changed by a fault, cannot be read, or is on a path that the user
 * configured, since an MCP server answers in other formats and other paths with any status.
 */
export function judgedAnswer(exchange: Exchange): JudgedAnswer | undefined {
  const { method, path, endpoint, outcome } = exchange
  const { answer: form, callsModel } = endpoint ?? {}
  // The platform's original answer is checked, not the one that we sent.
  const answer = outcome?.upstream ?? outcome?.answer
  if (!outcome || !answer || !endpoint || endpoint.isConfigured || outcome.error !== undefined || outcome.fault)
    return undefined
  const { headers, bytes, isAll } = receivedParts(answer)
  const body = decompressed(bytes, headerIn(headers, 'content-encoding'))
  if (!body) return undefined
  return {
    method,
    path,
    body,
    status: outcome.status,
    endpoint: form && { answer: form, ...(callsModel && { callsModel }) },
    contentType: headerIn(headers, 'content-type') ?? '',
    isWhole: isAll && outcome.complete,
    requested: callsModel ? requestedIn(exchange.body) : undefined,
    isQuoted: false,
  }
}

/** The answer to a call that a clause has made. */
export function calledAnswer({ method, path, body }: Call, { status, headers, text }: ReceivedAnswer): JudgedAnswer {
  const [pathname = ''] = path.split('?')
  return {
    endpoint: documentedAt(method, pathname),
    method,
    path: pathname,
    status,
    contentType: headers.get('content-type') ?? '',
    body: Buffer.from(text),
    isWhole: true,
    requested: body === undefined ? undefined : requestedIn(Buffer.from(body)),
    isQuoted: true,
  }
}

function receivedParts(answer: Reply | UpstreamResponse) {
  if (answer.kind === 'upstream') {
    const bytes = Buffer.concat(answer.beginning)
    return { headers: answer.headers, bytes, isAll: bytes.length === answer.bytes }
  }
  const headers = ['content-type', answer.contentType, ...(answer.headers ?? [])]
  return { headers, bytes: replyBytes(answer), isAll: true }
}

const MOST_BYTES = 16 * 1024 * 1024

/** Returns `undefined` if the body cannot be decompressed, for example because it is incomplete. */
function decompressed(body: Buffer, coding: string | undefined): Buffer | undefined {
  try {
    return decompress(body, coding, MOST_BYTES)
  } catch {
    return undefined
  }
}

/** The request is not validated, as when it is forwarded. */
function requestedIn(body: Buffer | undefined): JudgedAnswer['requested'] {
  const requested = body && (jsonOf(body) as { stream?: unknown; stream_options?: { include_usage?: unknown } } | null)
  return requested
    ? { stream: requested.stream === true, usage: requested.stream_options?.include_usage === true }
    : undefined
}

type Report = (path: string, sentence: string) => Violation

/** A violation of this section of platform-api.md. */
const documented =
  (section: string): Report =>
  (path, sentence) => ({ path, sentence, severity: 'critical', source: 'documented', section })

/** A violation of our own decision where platform-api.md leaves it open. */
const decided: Report = (path, sentence) => ({ path, sentence, severity: 'warning', source: 'decided' })

export const NOT_EVENTS = 'With stream true the answer must be text/event-stream, but its content type is not.'
export const NOT_DONE = 'The stream must end with data: [DONE].'

type Schema = Parameters<typeof check>[0]

/**
 * At most this many findings of one answer are reported: if a field is missing from a list of a thousand models, one
 * report of it is enough.
 */
const MOST_FINDINGS = 20

function mismatches(schema: Schema, value: unknown, report: Report, isQuoted: boolean): readonly Violation[] {
  const checked = check(schema, value, { whole: 'The answer', secret: () => !isQuoted })
  if ('value' in checked) return []
  return checked.mistakes.slice(0, MOST_FINDINGS).map(({ path, sentence }) => report(pathInWords(path), sentence))
}

/** Returns the violations of an answer. Never throws, whatever the answer contains. */
export function judge(answer: JudgedAnswer): readonly Violation[] {
  const { status, method, endpoint } = answer
  const isHead = method === 'HEAD'
  if (status >= 400) return isHead ? [] : judgeError(answer)
  // The client already has this answer.
  if (status === 304) return []
  if (status >= 300) return [decided('', `The platform is not known to answer with status ${status}.`)]
  if (endpoint === undefined || isHead) return []
  if (status !== 200) return [documented('Endpoints')('', `The status must be 200, not ${status}.`)]
  return endpoint.callsModel ? judgeChat(answer, endpoint.answer) : judgeJson(answer, endpoint.answer)
}

function judgeError({ status, body, contentType, path, isWhole, isQuoted }: JudgedAnswer): readonly Violation[] {
  const report = documented('Errors')
  const type = isJsonType(contentType) ? [] : [report('', 'An error must be JSON, but its content type is not.')]
  if (!isWhole) return type
  const value = jsonOf(body)
  if (value === undefined) return [...type, report('', 'An error must be a JSON object with the field error.')]
  const mistakes = mismatches(status === 404 ? notFoundAnswer : errorAnswer, value, report, isQuoted)
  if (status !== 404 || mistakes.length > 0) return [...type, ...mistakes]
  const { path: errorPath = '' } = value as { readonly path?: string }
  // The live platform may be below a path of its own, and frameworks differ in whether they decode paths.
  if ([path, percentDecoded(path)].some(one => errorPath.split('?', 1)[0]?.endsWith(one))) return type
  return [...type, report('path', 'path must be the requested path.')]
}

function judgeJson(
  { body, contentType, isWhole, isQuoted }: JudgedAnswer,
  { form, section, isDocumented }: DocumentedForm,
) {
  const reportForm = documented(section)
  const type = isJsonType(contentType) ? [] : [reportForm('', 'The answer must be JSON, but its content type is not.')]
  if (!isWhole) return type
  const value = jsonOf(body)
  if (value === undefined) return [...type, reportForm('', 'The answer must be JSON, but its body is not.')]
  return [...type, ...mismatches(form, value, isDocumented ? reportForm : decided, isQuoted)]
}

function judgeChat(answer: JudgedAnswer, form: DocumentedForm): readonly Violation[] {
  const { requested, contentType } = answer
  const isEvents = /^text\/event-stream\b/i.test(contentType)
  if (requested?.stream) {
    if (isEvents) return judgeStream(answer)
    return [decided('', NOT_EVENTS)]
  }
  // If the request could not be read, events are not checked, since it may have asked for them.
  return !requested && isEvents ? [] : judgeJson(answer, form)
}

/** The part of a chunk that is compared with other chunks. */
interface Chunk {
  readonly id?: unknown
  readonly choices?: readonly { readonly index?: unknown; readonly finish_reason?: unknown }[]
  readonly usage?: unknown
}

function judgeStream({ body, isWhole, requested, isQuoted }: JudgedAnswer): readonly Violation[] {
  const splitter = createEventSplitter()
  const complete = splitter.push(body)
  // Clients accept a last event without its blank line.
  const events = isWhole ? [...complete, splitter.rest()] : complete
  const texts = events.flatMap(event => dataOf(event) ?? [])
  const doneIndex = texts.indexOf('[DONE]')
  const payloads = doneIndex < 0 ? texts : texts.slice(0, doneIndex)
  const values = payloads.map(jsonOf)
  const found = values.flatMap((value, i) => eventViolations(value, i, isQuoted))
  const hasEnded = isWhole || doneIndex >= 0
  return [
    ...found,
    ...(hasEnded ? endViolations(texts, doneIndex, values) : []),
    ...(hasEnded && requested?.usage && !values.some(isError) ? usageViolations(values) : []),
    ...idViolations(values),
  ].slice(0, MOST_FINDINGS)
}

/** Some platforms send `error: null` with every chunk. */
const isError = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'error' in value && value.error !== null

/** Azure's results about the prompt, sent before the first chunk: no choices, and everything else empty. */
function isAboutPrompt(value: unknown): boolean {
  const { object, choices, prompt_filter_results } = (value ?? {}) as Readonly<Record<string, unknown>>
  return object === '' && prompt_filter_results !== undefined && Array.isArray(choices) && choices.length === 0
}

function eventViolations(value: unknown, i: number, isQuoted: boolean): readonly Violation[] {
  const place = `events[${i}]`
  if (isAboutPrompt(value)) return []
  if (value === undefined) return [decided(place, `${place} must be JSON or [DONE].`)]
  const mistakes = mismatches(isError(value) ? errorEventAnswer : chunkAnswer, value, decided, isQuoted)
  return mistakes.map(one => ({
    ...one,
    path: one.path === '' ? place : `${place}.${one.path}`,
    sentence: `In ${place}: ${one.sentence}`,
  }))
}

function endViolations(texts: readonly string[], doneIndex: number, values: readonly unknown[]): readonly Violation[] {
  const last = values.at(-1)
  // An error also ends a stream.
  if (doneIndex < 0 && isError(last)) return []
  if (doneIndex < 0) return [decided('', NOT_DONE)]
  const trailing = doneIndex < texts.length - 1 ? [decided('', 'Nothing may follow data: [DONE].')] : []
  return [...trailing, ...choiceViolations(values)]
}

function choiceViolations(values: readonly unknown[]): readonly Violation[] {
  if (values.some(isError)) return []
  const choices = chunksIn(values).flatMap(({ choices }) => (Array.isArray(choices) ? choices : []))
  const stopped = new Set(choices.flatMap(choice => (choice?.finish_reason ? [choice.index] : [])))
  if (choices.length === 0) return [decided('', 'The stream must have at least one choice.')]
  const unfinished = [...new Set(choices.map(choice => choice?.index))].filter(index => !stopped.has(index))
  return unfinished.map(index => decided('', `No event has a finish_reason for choice ${Number(index)}.`))
}

function usageViolations(values: readonly unknown[]): readonly Violation[] {
  const last = chunksIn(values).at(-1)
  if (last?.usage) return []
  return [decided('', 'With stream_options.include_usage the last event must have the usage.')]
}

function idViolations(values: readonly unknown[]): readonly Violation[] {
  const ids = new Set(chunksIn(values).flatMap(({ id }) => (typeof id === 'string' && id !== '' ? [id] : [])))
  return ids.size > 1 ? [{ ...decided('id', 'All events of a stream must have the same id.'), severity: 'info' }] : []
}

const chunksIn = (values: readonly unknown[]): readonly Chunk[] =>
  values.filter((value): value is Chunk => typeof value === 'object' && value !== null && !isError(value))
