/** Reads and writes a recording as YAML that reads well in a review and restores every byte. */
import { isUtf8 } from 'node:buffer'
import type * as v from 'valibot'
import { check } from '../check/check.js'
import { type Problem, ProblemsError } from '../check/problem.js'
import { CONFLICT, hasConflict, readYaml, yamlWith } from '../check/yaml.js'
import { isObject, isTooDeep, MOST_LEVELS } from '../core/json.js'
import { withSortedKeys } from './canonical.js'
import { messagesIn, subjectOf } from './conversation.js'
import {
  type ChunkForm,
  questionForm,
  quotedLines,
  type RequestForm,
  type ResponseForm,
  recordingForm,
  yamlText,
} from './file-form.js'
import { styled, styleOf } from './json-style.js'
import { assembledText } from './play.js'
import {
  hasRhythm,
  isStream,
  type Question,
  type RecordedChunk,
  type RecordedRequest,
  type RecordedResponse,
  type Recording,
  recordedBody,
} from './recording.js'

/** Returns the text of the file of a recording. */
export function recordingText(recording: Recording): string {
  const { recordedAt, test, place, response } = recording
  const { status, statusText, complete, leftByClient } = response
  const request = requestFields(recording.request)
  const file = {
    recordedAt,
    ...(test !== '' && { test }),
    ...(place > 1 && { place }),
    ...(complete ? {} : { complete }),
    ...(leftByClient && { leftByClient }),
    request,
    response: {
      status,
      ...(statusText !== undefined && { statusText }),
      headMs: tenths(response.headMs),
      headers: headersByName(response),
      ...responseBody(response),
      // Last, so that no editor strips blank lines from a stream at the end of the file.
      endMs: tenths(response.endMs),
    },
  }
  return `${headingOf(recording)}${yamlText(file, '', chatBodyIn(request))}\n`
}

/** A request as it is written in a file. */
export function requestFields(request: RecordedRequest) {
  const { method, path, query, condition } = request
  return {
    method,
    path,
    ...(query === '' ? {} : { query }),
    ...(condition && { condition }),
    ...requestBody(request),
  }
}

/** The JSON of a chat, whose fields are written with blank lines between them. */
function chatBodyIn({ body }: ReturnType<typeof requestFields>): unknown {
  return body && 'json' in body && messagesIn(body.json) ? body.json : undefined
}

/** Parameters first, then messages, then tools, so that Git can merge a change of one with a change of another. */
function inOrder(body: unknown): unknown {
  const messages = messagesIn(body)
  if (!messages) return body
  const fields = Object.entries(body as object)
  const rankOf = (name: string) => ['messages', 'input', 'functions', 'tools'].indexOf(name)
  const sorted = fields.toSorted(([one], [other]) => rankOf(one) - rankOf(other))
  return Object.fromEntries(sorted.map(([name, value]) => [name, value === messages ? value.map(roleFirst) : value]))
}

function roleFirst(message: unknown): unknown {
  if (!isObject(message) || !('role' in message)) return message
  const { role, ...others } = message
  return { role, ...others }
}

/**
 * The text of a recording with another request, test or place. What is the same stays as people wrote it, with their
 * comments. Frames of a stream are set aside meanwhile. Throws a ProblemsError for a text that is not YAML.
 */
export function changedText(
  text: string,
  { request, test, place }: Omit<Question, 'recordedAt'>,
  file: string,
): string {
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
  const [head, frames, tail] = framesAside(text.replaceAll('\r\n', '\n'))
  const fields = requestFields(request)
  const changes = [
    { key: 'key', value: undefined },
    { key: 'test', value: test || undefined, before: 'request' },
    { key: 'place', value: place > 1 ? place : undefined, before: 'request' },
    { key: 'request', value: fields },
  ]
  const changed = yamlWith(`${head}${frames && FRAMES_ASIDE}${tail}`, changes, file, {
    write: value => `${yamlText(value, '', chatBodyIn(fields))}\n`,
    quote: quotedLines,
  })
  return changed.replace(FRAMES_ASIDE, () => frames).replaceAll('\n', lineEnd)
}

const FRAMES_ASIDE = '  chunks: aside\n'

/** The frames of a stream as we write them, which are many and do not change, and what is around them. */
function framesAside(text: string): readonly [head: string, frames: string, tail: string] {
  const start = text.indexOf('\n  chunks:\n', text.indexOf('\nresponse:\n')) + 1
  const end = text.lastIndexOf('\n  endMs: ') + 1
  const isAsWritten = start > 0 && end > start && !/^ {0,3}\S/m.test(text.slice(start + 1, end).replace(/^.*\n/, ''))
  return isAsWritten ? [text.slice(0, start), text.slice(start, end), text.slice(end)] : [text, '', '']
}

const tenths = (ms: number) => Math.max(0, Math.round(ms * 10) / 10)

function requestBody({ body }: RecordedRequest): { readonly body?: BodyContent | { readonly json: unknown } } {
  switch (body.kind) {
    case 'none':
      return {}
    case 'json':
      return { body: { json: inOrder(body.value) } }
    case 'text':
      return { body: { text: body.text } }
    case 'bytes':
      return { body: { base64: base64Of(body.bytes) } }
  }
}

function headersByName({ headers }: RecordedResponse): object {
  const byName: Record<string, unknown> = {}
  for (const [name] of headers) {
    const values = headers.filter(([other]) => other === name).map(([, value]) => value)
    byName[name] = values.length === 1 ? values[0] : values
  }
  return byName
}

function responseBody(response: RecordedResponse): object {
  if (hasRhythm(response))
    return { chunks: response.chunks.map(({ atMs, bytes }) => ({ atMs: tenths(atMs), ...bodyContent(bytes) })) }
  const bytes = recordedBody(response)
  if (bytes.length === 0) return {}
  const content = bodyContent(bytes)
  const json = 'text' in content ? styleOf(content.text) : undefined
  if (!json) return { body: content }
  return { body: { ...(json.style === 'compact' ? {} : { written: json.style }), json: json.value } }
}

/** Parses a file, which may have been edited by hand. Throws a ProblemsError that says what is wrong and where. */
export function recordingIn(text: string, file: string): Recording {
  const { complete, leftByClient, response, ...question } = checked(recordingForm, text, file)
  const { status, statusText, headMs = 0, headers } = response
  const chunks = chunksFrom(response)
  return {
    ...questionFrom(question),
    response: {
      status,
      ...(statusText !== undefined && { statusText }),
      headMs,
      headers: Object.entries(headers).flatMap(([name, value]) =>
        [value].flat().map(value => [name.toLowerCase(), String(value)] as const),
      ),
      chunks,
      endMs: response.endMs ?? chunks.at(-1)?.atMs ?? 0,
      complete,
      ...(leftByClient && { leftByClient }),
    },
  }
}

/** Hand-written recordings without a time never count as old. */
const questionFrom = ({
  recordedAt = new Date().toISOString(),
  test = '',
  place,
  request,
}: v.InferOutput<typeof questionForm>): Question => ({ recordedAt, test, place, request: requestFrom(request) })

/**
 * Parses a file up to its answer, which is left out, because it may have thousands of frames. The answer begins at a key
 * of its own; if what is before it is no request, or the answer has conflict markers, all of the file is parsed. Throws a ProblemsError.
 */
export function questionIn(text: string, file: string): Question {
  const end = /^response:/m.exec(text)?.index ?? text.length
  const head = text.slice(0, end)
  const isPlain = /^request:/m.test(head) && !hasConflict(text.slice(end))
  const question = questionFrom(checked(questionForm, isPlain ? head : text, file))
  return /^key: /m.test(head) ? { ...question, isEarlier: true } : question
}

const withAdvice = (problem: Problem): Problem =>
  problem.sentence === CONFLICT ? { ...problem, sentence: `${CONFLICT} Or try: standin recordings repair.` } : problem

function checked<S extends v.GenericSchema>(form: S, text: string, origin: string): v.InferOutput<S> {
  const yaml = readYaml(text, origin, { keepDigits: true })
  if (yaml.problems.length > 0) throw new ProblemsError(yaml.problems.map(withAdvice), [origin])
  if (isTooDeep(yaml.value))
    throw new ProblemsError([{ origin, sentence: `This is nested more than ${MOST_LEVELS} levels deep.` }], [origin])
  const result = check(form, yaml.value ?? {}, { whole: 'the file' })
  if ('value' in result) return result.value
  const problems = result.mistakes.map(({ path, sentence }) => ({ origin, ...yaml.locate(path), sentence }))
  throw new ProblemsError(problems, [origin])
}

/** The request in a file of the right form. */
export function requestFrom({ method, path, query = '', condition, body }: RequestForm): RecordedRequest {
  const line = { method: method.toUpperCase(), path, query, ...(condition && { condition }) }
  if (!body) return { ...line, body: { kind: 'none' } }
  if (Object.hasOwn(body, 'json'))
    return { ...line, body: { kind: 'json', value: withSortedKeys(body.json, Number.POSITIVE_INFINITY) } }
  if (body.text !== undefined) return { ...line, body: { kind: 'text', text: body.text } }
  return { ...line, body: { kind: 'bytes', bytes: bytesIn(body) } }
}

function chunksFrom({ body, chunks, endMs = 0 }: ResponseForm): readonly RecordedChunk[] {
  if (chunks) return timed(chunks)
  if (!body) return []
  const bytes = Object.hasOwn(body, 'json') ? Buffer.from(styled(body.json, body.written ?? 'compact')) : bytesIn(body)
  return [{ atMs: endMs, bytes }]
}

/** A chunk without a time arrives together with the one before it. */
function timed(chunks: readonly ChunkForm[]): readonly RecordedChunk[] {
  let atMs = 0
  return chunks.map(chunk => {
    atMs = chunk.atMs ?? atMs
    return { atMs, bytes: bytesIn(chunk) }
  })
}

type BodyContent = { readonly text: string } | { readonly base64: string }

function bodyContent(bytes: Buffer): BodyContent {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: text a person can read has no control characters
  if (isUtf8(bytes) && !/[\0-\x08\x0b\x0c\x0e-\x1f]/.test(bytes.toString('latin1')))
    return { text: bytes.toString('utf8') }
  return { base64: base64Of(bytes) }
}

/** Base64 in lines of moderate width. */
function base64Of(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,100}/g) ?? []
  return lines.length > 1 ? `${lines.join('\n')}\n` : lines.join()
}

const bytesIn = ({ text = '', base64 }: Pick<ChunkForm, 'text' | 'base64'>): Buffer =>
  base64 === undefined ? Buffer.from(text) : Buffer.from(base64, 'base64')

const WIDEST = 120
const MOST_LINES = 40
const LONGEST_PROMPT = 80

/** The comment at the top of the file, line by line. */
function headingOf({ request, response }: Recording): string {
  const answer = isStream(response) ? assembledText(response) : undefined
  const lines = answer ? ['', ...wrapped(answer)] : []
  return [titleOf(request), ...lines.map(line => `# ${line}`.trimEnd())].map(line => `${line}\n`).join('')
}

/** The request in words. The model is not in it, so that the line stays when the prompt changes. */
function titleOf(request: RecordedRequest): string {
  const { prompt } = subjectOf(request)
  const subject = prompt === undefined ? '' : `: "${beginningOf(prompt)}"`
  return `# ${harmless(`${request.method} ${request.path}${subject}`)}`.trimEnd()
}

/** The beginning of a prompt, in one line. */
export function beginningOf(text: string): string {
  const line = text
    .slice(0, 10 * LONGEST_PROMPT)
    .trim()
    .replace(/\s+/g, ' ')
  return line.length > LONGEST_PROMPT ? `${line.slice(0, LONGEST_PROMPT)}…` : line
}

/** Wraps the text into comment lines, up to the maximum number. */
function wrapped(text: string): readonly string[] {
  const room = WIDEST - '# '.length
  const start = text.slice(0, (MOST_LINES + 1) * WIDEST).trimEnd()
  const lines = start.split(/\r\n|[\n\r]/).flatMap(line => wrappedLine(harmless(line), room))
  return start.length < text.trimEnd().length || lines.length > MOST_LINES
    ? [...lines.slice(0, MOST_LINES), '…']
    : lines
}

function wrappedLine(line: string, room: number): readonly string[] {
  if (line.length <= room) return [line]
  const space = line.lastIndexOf(' ', room)
  const middle = /[\ud800-\udbff]/.test(line.charAt(room - 1)) ? room - 1 : room
  const end = space > room / 2 ? space : middle
  return [line.slice(0, end), ...wrappedLine(line.slice(end).trimStart(), room)]
}

/** Removes characters that end a comment, reverse the text direction or are invisible. */
const harmless = (text: string) => text.replace(/\t/g, '  ').replace(/[\p{C}\u2028\u2029]/gu, '�')
