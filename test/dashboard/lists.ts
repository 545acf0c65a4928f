/** Helpers for tests of the dashboard's lists. */
import { folderWith } from '../command.js'
import { hello, type Scene } from '../scene.js'

/** A handwritten recording. */
export const recordingOf = (prompt: string, more = '') => `${more}request:
  method: POST
  path: /v1/chat/completions
  body:
    json:
      messages:
        - content: ${prompt}
          role: user
      model: gpt-4o
response:
  status: 200
  headers:
    content-type: application/json
  body:
    json:
      choices: []
`

export const nameOfRecording = (n: number) => `chat-completions/some-${n.toString(16).padStart(12, '0')}.yaml`

/** A folder with this many recordings. */
export const recordings = (count: number) =>
  folderWith(
    Object.fromEntries(Array.from({ length: count }, (_, i) => [nameOfRecording(i), recordingOf(`question ${i}`)])),
  )

/** Asks the emulated model, and waits for its answer. */
export const say = async ({ chat }: Scene, text: string, more: object = {}) =>
  (await chat({ ...hello, messages: [{ role: 'user', content: text }], ...more })).text()
