/** What a page must hold to for everybody: axe finds nothing, and nothing is wider than the screen. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Findings {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
}

/** What axe finds wrong with the page as it is. */
export async function violationsOn(page: Page): Promise<readonly string[]> {
  // The page's policy lets no foreign script in; what is evaluated from outside is not the page's.
  if (await page.evaluate<boolean>("typeof axe === 'undefined'")) await page.evaluate(axe)
  const { violations } = await page.evaluate<Findings>("axe.run({ resultTypes: ['violations'] })")
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

export const widthOf = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth')

/** Fails with what axe finds, and when the page is wider than its window. */
export async function expectFitForAll(page: Page): Promise<void> {
  expect(await violationsOn(page)).toEqual([])
  expect(await widthOf(page)).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0)
}
