/** `npm run screenshots`: takes the screenshots of the dashboard for the README, light and dark, into fixtures/screenshots. Needs a build. */
import { existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { Platform } from '../src/index.js'
import { askMuch, startShowcase } from './dashboard/showcase.js'

const folder = path.join(import.meta.dirname, '../fixtures/screenshots')
const size = { width: 1280, height: 720 }
/** The port in the README. */
const PORT = 4100
/** The time at the start, in this process and in the browser. */
const BEGIN = Date.parse('2026-01-15T09:30:00Z')

/** Prepares each view for its screenshot. */
const views: Readonly<Record<string, (page: Page, platform: Platform) => Promise<void>>> = {
  async requests(page, platform) {
    await page.goto(platform.dashboardUrl)
    await page.locator('.request').filter({ hasText: 'opening hours' }).first().click()
    await page.getByRole('heading', { name: 'Conversation' }).waitFor()
    await page.mouse.move(0, 0)
  },
}

/** Moves this process to another time, from which its clock runs on. */
function moveTo(beginMs: number): void {
  const Real = Date
  const shiftMs = beginMs - Real.now()
  globalThis.Date = class extends Real {
    constructor(...when: readonly never[]) {
      super(...((when.length > 0 ? when : [Real.now() + shiftMs]) as [number]))
    }

    static override now = () => Real.now() + shiftMs
  } as DateConstructor
}

async function take(browser: Browser, colorScheme: 'light' | 'dark'): Promise<void> {
  moveTo(BEGIN)
  const platform = await startShowcase({ port: PORT })
  const look = { viewport: size, colorScheme, reducedMotion: 'reduce', timezoneId: 'UTC', locale: 'en-US' } as const
  for (const [name, prepare] of Object.entries(views)) {
    const context = await browser.newContext(look)
    const page = await context.newPage()
    await page.clock.setFixedTime(new Date())
    await prepare(page, platform)
    await page.waitForLoadState('networkidle', { timeout: 1000 }).catch(() => {})
    await page.evaluate(
      "for (const part of [document.documentElement, document.querySelector('.settings')]) part?.scrollTo(0, 0)",
    )
    await page.screenshot({ path: path.join(folder, `${name}-${colorScheme}.png`), caret: 'hide' })
    await context.close()
    await platform.reset()
    await askMuch(platform)
  }
  await platform.stop()
}

// Without coloured edges of letters, which make a picture larger.
const args = ['--no-sandbox', '--disable-gpu', '--disable-lcd-text']
mkdirSync(folder, { recursive: true })
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-headless-shell'].find(existsSync)
if (!executablePath) throw new Error('There is no Chromium in /usr/bin.')
const browser = await chromium.launch({ executablePath, args })
for (const colorScheme of ['light', 'dark'] as const) await take(browser, colorScheme)
await browser.close()
