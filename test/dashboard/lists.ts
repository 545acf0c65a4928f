/** What the lists of the dashboard are tested with. */
import { folderWith } from '../command.js'
import { hello, type Scene } from '../scene.js'

/** A recording as somebody would write it by hand. */
export const recordingOf = (said: string, more = '') => `${more}request:
  method: POST
  path: /v1/chat/completions
  body:
    json:
      messages:
        - content: ${said}
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

/** A folder with so many recordings. */
export const recordings = (count: number) =>
  folderWith(
    Object.fromEntries(Array.from({ length: count }, (_, i) => [nameOfRecording(i), recordingOf(`question ${i}`)])),
  )

/** Asks the emulated model, and waits for its answer. */
export const say = async ({ chat }: Scene, text: string, more: object = {}) =>
  (await chat({ ...hello, messages: [{ role: 'user', content: text }], ...more })).text()
