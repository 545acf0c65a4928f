/** `standin recordings show`: describes one recording. */
import { isUtf8 } from 'node:buffer'
import { stringifyExact } from '../../core/json.js'
import {
  assembledText,
  bodyOf,
  isStream,
  type RecordedRequest,
  type RecordedResponse,
  type Recording,
} from '../../recordings/index.js'
import { command } from '../command.js'
import { formatAge, formatBytes, formatDuration, pluralize } from '../format.js'
import { printable } from '../output.js'
import { findOne, openRecordings } from './folder.js'

export const commands = {
  'recordings show': command({
    flags: {},
    async run(line) {
      const { folder } = openRecordings(line)
      const { file, key, nth } = await findOne(folder, line.args[0] ?? '')
      const recording = await folder.read(file)
      return { data: { file, key, nth, ...dataOf(recording) }, text: `${file}\n${textOf(recording)}` }
    },
  }),
}

/** The recording as it is, with binary bodies in Base64. */
function dataOf({ recordedAt, request, response }: Recording): object {
  const { body } = request
  const chunks = response.chunks.map(({ atMs, bytes }) => ({ atMs, ...contentOf(bytes) }))
  return {
    recordedAt,
    request: { ...request, body: body.kind === 'bytes' ? { kind: 'bytes', ...contentOf(body.bytes) } : body },
    response: { ...response, chunks },
  }
}

const contentOf = (bytes: Buffer) =>
  isUtf8(bytes) ? { text: bytes.toString('utf8') } : { base64: bytes.toString('base64') }

function textOf({ recordedAt, request, response }: Recording): string {
  const { method, path, query } = request
  const parts = [
    `${printable(`${method} ${path}${query === '' ? '' : `?${query}`}`)}`,
    `recorded ${recordedAt}, ${formatAge(Date.now() - Date.parse(recordedAt))} ago`,
    ...section('Request', requestText(request)),
    ...section('Answer', [answerLine(response), ...response.headers.map(pair => pair.join(': '))].join('\n')),
    ...section('Timing', timingText(response)),
    ...bodyRows(response),
  ]
  return `${parts.join('\n')}\n`
}

const MOST_CHARACTERS = 20_000

const section = (title: string, text: string): readonly string[] => [
  '',
  title,
  ...shortened(text)
    .split('\n')
    .map(line => `  ${printable(line.replace(/\r$/, '').replaceAll('\t', '  '))}`.trimEnd()),
]

const shortened = (text: string) =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…\n(cut off here; --json prints all of it)` : text

function requestText({ body }: RecordedRequest): string {
  switch (body.kind) {
    case 'none':
      return 'no body'
    case 'json':
      return stringifyExact(body.value, 2)
    case 'text':
      return body.text
    case 'bytes':
      return `${formatBytes(body.bytes.length)} of binary data`
  }
}

const answerLine = (response: RecordedResponse) =>
  `${response.status}, ${isStream(response) ? 'a stream' : 'not a stream'}, ${formatBytes(bodyOf(response).length)}${response.complete ? '' : ', broke off'}`

function timingText({ headMs, chunks, endMs }: RecordedResponse): string {
  const [first] = chunks
  const firstByte = first ? [`first byte after ${formatDuration(headMs + first.atMs)}`] : []
  return [
    `headers after ${formatDuration(headMs)}`,
    ...firstByte,
    pluralize(chunks.length, 'chunk'),
    `end after ${formatDuration(headMs + endMs)}`,
  ].join(', ')
}

/** The generated text if a model answered, otherwise the body. */
function bodyRows(response: RecordedResponse): readonly string[] {
  const text = assembledText(response)
  if (text !== undefined) return section('Text', text)
  const body = bodyOf(response)
  if (body.length === 0) return []
  return section('Body', isUtf8(body) ? body.toString('utf8') : `${formatBytes(body.length)} of binary data`)
}
