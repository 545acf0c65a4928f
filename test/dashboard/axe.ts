/** What makes a page accessible: axe finds nothing, and nothing is wider than the screen. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { desk, phone } from './browser.js'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Findings {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
}

interface Look {
  readonly viewport: { readonly width: number; readonly height: number }
  readonly colorScheme: 'light' | 'dark'
  /** The only rules to try; undefined for all. */
  readonly rules?: readonly string[]
}

/** Rules about colours and sizes. The others find the same in every look of what both devices show. */
const rulesOfLooks = ['color-contrast', 'scrollable-region-focusable', 'target-size']

/** Both devices and both colours. An element that both devices show has the same colours on them, so two runs see everything. */
const looks: readonly Look[] = [
  { viewport: desk, colorScheme: 'light' },
  { viewport: phone, colorScheme: 'dark', rules: rulesOfLooks },
]

/** For what only one device shows, such as the menu and stacked tables: each device in both colours, with all rules. */
export const everyLook: readonly Look[] = [desk, phone].flatMap(viewport =>
  (['light', 'dark'] as const).map(colorScheme => ({ viewport, colorScheme })),
)

/**
 * What is behind a modal dialog was looked at before it was opened. The page has no frames, and no rule needs its style sheets loaded
 * once more.
 */
const runWith = (rules: readonly string[] | undefined) => `axe.run(document.querySelector('dialog:modal') ?? document, {
  resultTypes: ['violations'], preload: false, iframes: false, runOnly: ${JSON.stringify(rules)}
})`

/** Fails with what axe finds on the page as it is, and when the page is wider than its window, on a desk and on a phone. */
export async function expectFitForAll(page: Page, seen: readonly Look[] = looks): Promise<void> {
  // The page's policy lets no foreign script in; what is evaluated from outside is not the page's.
  if (await page.evaluate<boolean>("typeof axe === 'undefined'")) await page.evaluate(axe)
  const before = page.viewportSize() ?? desk
  const wrong: string[] = []
  for (const { viewport, colorScheme, rules } of seen) {
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
