/** What the lists of the dashboard are tested with. */
import type { Page } from 'playwright-core'
import { folderWith } from '../command.js'
import { hello, type Scene } from '../scene.js'

/** The editor of a rule. */
export const ruleOn = (page: Page) => page.getByRole('textbox', { name: 'Rule', exact: true })

/** Puts another text into the editor of a rule, as if it was pasted. */
export async function writeRule(page: Page, yaml: string): Promise<void> {
  await ruleOn(page).focus()
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText(yaml)
}

/** What stands in the editor of a rule. */
export const ruleTextOn = async (page: Page) =>
  (await ruleOn(page).locator('.cm-line').allInnerTexts()).map(line => line.replace(/\n$/, '')).join('\n')

/** A recording as written by hand. */
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
