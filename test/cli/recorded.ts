/** Recordings as files, for commands to work on. */
import path from 'node:path'
import { recordingText } from '../../src/recordings/file-text.js'
import { Folder, fileOf, ignoreFrom, keysOf, numbered, type Recording } from '../../src/recordings/index.js'
import type { Files } from '../command.js'

export const DIR = 'fixtures/recordings'

const DAY_MS = 86_400_000

interface RecordingInput {
  readonly system?: string
  readonly prompt?: string
  readonly answer?: string
  readonly ageDays?: number
  readonly complete?: boolean
}

/** A recorded chat completion that was not streamed. */
export function recorded({
  system,
  prompt = 'hello',
  answer = 'Hi!',
  ageDays = 0,
  complete = true,
}: RecordingInput = {}): Recording {
  const instructions = system === undefined ? [] : [{ content: system, role: 'system' }]
  const messages = [...instructions, { content: prompt, role: 'user' }]
  const said = { object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content: answer } }] }
  return {
    recordedAt: new Date(Date.now() - ageDays * DAY_MS).toISOString(),
    test: '',
    place: 1,
    request: {
      ...{ method: 'POST', path: '/v1/chat/completions', query: '' },
      body: { kind: 'json', value: { messages, model: 'gpt-4o' } },
    },
    response: {
      ...{ status: 200, headers: [['content-type', 'application/json']], headMs: 320, endMs: 2, complete },
      chunks: [{ atMs: 2, bytes: Buffer.from(JSON.stringify(said)) }],
    },
  }
}

/** The same as a stream, two words in two pieces. */
export function streamed(input: RecordingInput & { readonly pieces?: readonly string[] } = {}): Recording {
  const { request, response, ...rest } = recorded(input)
  const { pieces = ['data: {"choices":[{"index":0,"delta":{"content":"Good day"}}]}\n\n', 'data: [DONE]\n\n'] } = input
  const chunks = pieces.map((piece, i) => ({ atMs: 100 * (i + 1), bytes: Buffer.from(piece) }))
  const headers = [['content-type', 'text/event-stream']] as const
  const value = { ...(request.body as { value: object }).value, stream: true }
  return {
    ...rest,
    request: { ...request, body: { kind: 'json', value } },
    response: { ...response, headers, chunks, endMs: 1500 },
  }
}

const conversationOf = ({ request }: Recording) => keysOf(request, ignoreFrom([])).conversation

/** The name of a recording in its folder. */
export const nameOf = (recording: Recording, nth = 1) =>
  numbered(fileOf(recording.request, conversationOf(recording), ''), nth)

/** The files of recordings, as record mode would write them. */
export function filesOf(...recordings: readonly Recording[]): Files {
  const seen = new Map<string, number>()
  return Object.fromEntries(
    recordings.map(recording => {
      const name = nameOf(recording)
      const nth = (seen.get(name) ?? 0) + 1
      seen.set(name, nth)
      return [`${DIR}/${nameOf(recording, nth)}`, recordingText({ ...recording, place: nth })]
    }),
  )
}

export const folderIn = (dir: string) => new Folder(path.join(dir, DIR))

/** The names of all recordings below a folder. */
export const namesIn = async (dir: string) => [...folderIn(dir).files()].sort()
