/** Helpers for playground tests: opening it with a key, and sending messages. */
import type { Page } from 'playwright-core'
import type { Scene } from '../scene.js'

export const messageIn = (page: Page) => page.getByLabel('Message', { exact: true })

export const answersOn = (page: Page) => page.locator('.turn-answer')

/** Unfolds the settings and the named ones within them. */
export async function unfold(page: Page, ...names: readonly string[]): Promise<void> {
  for (const name of ['Settings', ...names]) {
    const fold = page.locator('details').filter({ has: page.locator(':scope > summary', { hasText: name }) })
    if ((await fold.last().getAttribute('open')) === null) await fold.last().locator(':scope > summary').click()
  }
}

/** Opens the playground with this key, by default the platform's. */
export async function playOn(page: Page, { dashboardUrl, apiKey }: Scene, key = apiKey): Promise<void> {
  await page.goto(`${dashboardUrl}/playground`)
  await page.getByRole('heading', { name: 'Playground' }).waitFor()
  await unfold(page)
  await page.getByLabel('Credential').selectOption('A key that I paste')
  await page.getByLabel('API key', { exact: true }).fill(key)
}

/** Sends a message, and waits until the answer is over. */
export async function sayOn(page: Page, text: string): Promise<void> {
  const before = await answersOn(page).count()
  await messageIn(page).fill(text)
  await page.keyboard.press('Enter')
  await overOn(page, before)
}

/** Waits until an answer is over, by default the last one. */
export async function overOn(page: Page, place?: number): Promise<void> {
  const at = place ?? (await answersOn(page).count()) - 1
  await answersOn(page).nth(at).locator('.answer-facts').waitFor()
}

/** The chat requests that the page sends, in order. */
export function chatRequestsOf(page: Page): readonly ChatRequest[] {
  const requests: ChatRequest[] = []
  page.on('request', request => {
    if (new URL(request.url()).pathname === '/v1/chat/completions') requests.push(request.postDataJSON())
  })
  return requests
}

export interface ChatRequest {
  readonly messages: readonly object[]
  readonly [field: string]: unknown
}
