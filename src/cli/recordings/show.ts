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
import { counted, inAge, inBytes, inTime } from '../format.js'
import { harmless } from '../output.js'
import { findOne, openRecordings } from './folder.js'

export const commands = {
  'recordings show': command({
    flags: {},
    async run(line) {
      const { folder } = openRecordings(line)
      const { file, key, nth } = await findOne(folder, line.words[0] ?? '')
      const recording = await folder.read(file)
      return { data: { file, key, nth, ...inJson(recording) }, words: `${file}\n${inWords(recording)}` }
    },
  }),
}

/** The recording as it is; binary bodies are in Base64. */
function inJson({ recordedAt, request, response }: Recording): object {
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

function inWords({ recordedAt, request, response }: Recording): string {
  const { method, path, query } = request
  const parts = [
    `${harmless(`${method} ${path}${query === '' ? '' : `?${query}`}`)}`,
    `recorded ${recordedAt}, ${inAge(Date.now() - Date.parse(recordedAt))} ago`,
    ...section('Request', requestText(request)),
    ...section('Answer', [answerLine(response), ...response.headers.map(pair => pair.join(': '))].join('\n')),
    ...section('Rhythm', rhythmOf(response)),
    ...bodyRows(response),
  ]
  return `${parts.join('\n')}\n`
}

const LONGEST_SHOWN = 20_000

const section = (title: string, text: string): readonly string[] => [
  '',
  title,
  ...shortened(text)
    .split('\n')
    .map(line => `  ${harmless(line.replace(/\r$/, '').replaceAll('\t', '  '))}`.trimEnd()),
]

const shortened = (text: string) =>
  text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…\n(cut here; --json has all of it)` : text

function requestText({ body }: RecordedRequest): string {
  switch (body.kind) {
    case 'none':
      return 'no body'
    case 'json':
      return stringifyExact(body.value, 2)
    case 'text':
      return body.text
    case 'bytes':
      return `${inBytes(body.bytes.length)} of binary data`
  }
}

const answerLine = (response: RecordedResponse) =>
  `${response.status}, ${isStream(response) ? 'a stream' : 'whole'}, ${inBytes(bodyOf(response).length)}${response.complete ? '' : ', broke off'}`

function rhythmOf({ headMs, chunks, endMs }: RecordedResponse): string {
  const [first] = chunks
  const firstByte = first ? [`first byte after ${inTime(headMs + first.atMs)}`] : []
  return [
    `head after ${inTime(headMs)}`,
    ...firstByte,
    counted(chunks.length, 'chunk'),
    `over after ${inTime(headMs + endMs)}`,
  ].join(', ')
}

/** The generated text if a model answered, otherwise the body. */
function bodyRows(response: RecordedResponse): readonly string[] {
  const text = assembledText(response)
  if (text !== undefined) return section('Text', text)
  const body = bodyOf(response)
  if (body.length === 0) return []
  return section('Body', isUtf8(body) ? body.toString('utf8') : `${inBytes(body.length)} of binary data`)
}
