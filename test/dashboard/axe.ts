/** Accessibility checks: axe finds nothing, and the page is not wider than the screen. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { desktop, phone } from './browser.js'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Findings {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
}

interface Appearance {
  readonly viewport: { readonly width: number; readonly height: number }
  readonly colorScheme: 'light' | 'dark'
  /** The rules to run; undefined for all. */
  readonly rules?: readonly string[]
}

/** Rules about colours and sizes. The others find the same in every appearance of what both devices show. */
const appearanceRules = ['color-contrast', 'scrollable-region-focusable', 'target-size']

/** Both devices and both colour schemes. Colours do not depend on the device, so two runs cover what both devices show. */
const appearances: readonly Appearance[] = [
  { viewport: desktop, colorScheme: 'light' },
  { viewport: phone, colorScheme: 'dark', rules: appearanceRules },
]

/** For what only one device shows, such as the menu and stacked tables: each device in both colour schemes, with all rules. */
export const allAppearances: readonly Appearance[] = [desktop, phone].flatMap(viewport =>
  (['light', 'dark'] as const).map(colorScheme => ({ viewport, colorScheme })),
)

/**
 * What is behind a modal dialog was checked before the dialog opened. The page has no frames, and no rule needs its style sheets loaded
 * again.
 */
const runWith = (rules: readonly string[] | undefined) => `axe.run(document.querySelector('dialog:modal') ?? document, {
  resultTypes: ['violations'], preload: false, iframes: false, runOnly: ${JSON.stringify(rules)}
})`

/** Fails if axe finds anything on the page as it is, or if the page is wider than its window, on desktop and phone. */
export async function expectAccessible(page: Page, tried: readonly Appearance[] = appearances): Promise<void> {
  // The page's policy blocks foreign scripts, but not code that the test evaluates.
  if (await page.evaluate<boolean>("typeof axe === 'undefined'")) await page.evaluate(axe)
  const before = page.viewportSize() ?? desktop
  const wrong: string[] = []
  for (const { viewport, colorScheme, rules } of tried) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme })
    const { violations } = await page.evaluate<Findings>(runWith(rules))
    const at = `${viewport.width} pixels wide in ${colorScheme} colours`
    wrong.push(...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}, ${at}: ${html}`)))
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    if (width > viewport.width) wrong.push(`too wide, ${at}: ${width} pixels`)
  }
  await page.setViewportSize(before)
  expect(wrong).toEqual([])
}
