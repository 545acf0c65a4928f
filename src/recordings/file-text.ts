/** Reads and writes a recording as YAML that reads well in a review and restores every byte. */
import { isUtf8 } from 'node:buffer'
import type * as v from 'valibot'
import { check } from '../check/check.js'
import { ProblemsError } from '../check/problem.js'
import { readYaml } from '../check/yaml.js'
import { isTooDeep, MOST_LEVELS } from '../core/json.js'
import { withSortedKeys } from './canonical.js'
import {
  type ChunkForm,
  questionForm,
  type RequestForm,
  type ResponseForm,
  recordingForm,
  yamlText,
} from './file-form.js'
import { styled, styleOf } from './json-style.js'
import { subjectOf } from './names.js'
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
export function recordingText(recording: Recording, key: string): string {
  const { recordedAt, request, response } = recording
  const { status, statusText, complete } = response
  const file = {
    recordedAt,
    key,
    ...(complete ? {} : { complete }),
    request: requestFields(request),
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
  return `${headingOf(recording)}${yamlText(file)}\n`
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

/**
 * Replaces the request and the key in the text of a recording. Everything else stays byte for byte, but for a first line
 * that was made of the request. `undefined` if the file is not laid out as `recordingText` does it.
 */
export function withRequest(text: string, before: RecordedRequest, request: RecordedRequest, key: string) {
  const start = /^request:/m.exec(text)?.index
  if (start === undefined) return undefined
  const nextKey = /^[^\s#]/gm
  nextKey.lastIndex = start + 1
  const end = nextKey.exec(text)?.index ?? text.length
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
  const section = `${yamlText({ request: requestFields(request) })}\n`.replaceAll('\n', lineEnd)
  const changed = (text.slice(0, start) + section + text.slice(end)).replace(/^key: .*$/m, yamlText({ key }))
  const [title = ''] = changed.split(lineEnd, 1)
  return title === titleOf(before) ? titleOf(request) + changed.slice(title.length) : changed
}

const tenths = (ms: number) => Math.max(0, Math.round(ms * 10) / 10)

function requestBody({ body }: RecordedRequest): object {
  switch (body.kind) {
    case 'none':
      return {}
    case 'json':
      return { body: { json: body.value } }
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
  const { recordedAt, complete, request, response } = checked(recordingForm, text, file)
  const { status, statusText, headMs = 0, headers } = response
  const chunks = chunksFrom(response)
  return {
    recordedAt: timeOf(recordedAt),
    request: requestFrom(request),
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
    },
  }
}

/** Hand-written recordings without a time never count as old. */
const timeOf = (recordedAt = new Date().toISOString()) => recordedAt

/** Parses a file up to its answer, which is left out. Throws a ProblemsError. */
export function questionIn(text: string, file: string): Question {
  const end = /^response:/m.exec(text)?.index ?? text.length
  const head = text.slice(0, end)
  const { recordedAt, request } = checked(questionForm, /^request:/m.test(head) ? head : text, file)
  return { recordedAt: timeOf(recordedAt), request: requestFrom(request) }
}

function checked<S extends v.GenericSchema>(form: S, text: string, origin: string): v.InferOutput<S> {
  const yaml = readYaml(text, origin, { keepDigits: true })
  if (yaml.problems.length > 0) throw new ProblemsError(yaml.problems, [origin])
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

/** Restores the bytes of a body. */
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

function titleOf(request: RecordedRequest): string {
  const { model, prompt } = subjectOf(request)
  const subject = [model === undefined ? '' : `, ${model}`, prompt === undefined ? '' : `: "${beginningOf(prompt)}"`]
  return `# ${harmless(`${request.method} ${request.path}${subject.join('')}`)}`.trimEnd()
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
