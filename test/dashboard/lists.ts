/** Helpers for tests of the dashboard's lists. */
import type { Page } from 'playwright-core'
import { folderWith } from '../command.js'
import { hello, type Scene } from '../scene.js'

/** The rule editor. */
export const ruleOn = (page: Page) => page.getByRole('textbox', { name: 'Rule', exact: true })

/** Replaces the text in the rule editor, as if it was pasted. */
export async function writeRule(page: Page, yaml: string): Promise<void> {
  await ruleOn(page).focus()
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText(yaml)
}

/** The text in the rule editor. */
export const ruleTextOn = async (page: Page) =>
  (await ruleOn(page).locator('.cm-line').allInnerTexts()).map(line => line.replace(/\n$/, '')).join('\n')

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
