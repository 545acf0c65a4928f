/** What makes a page accessible: axe finds nothing, and nothing is wider than the screen. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** All that depends on the colours. */
const ofColours = "{ type: 'rule', values: ['color-contrast', 'link-in-text-block'] }"

interface Findings {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
}

/** What axe finds wrong with the page as it is, in light colours and in dark ones. */
export async function violationsOn(page: Page): Promise<readonly string[]> {
  // The page's policy lets no foreign script in; what is evaluated from outside is not the page's.
  if (await page.evaluate<boolean>("typeof axe === 'undefined'")) await page.evaluate(axe)
  const found = await page.evaluate<Findings>("axe.run({ resultTypes: ['violations'] })")
  const [now, other] = (await isDark(page)) ? (['dark', 'light'] as const) : (['light', 'dark'] as const)
  await page.emulateMedia({ colorScheme: other })
  const foundInOther = await page.evaluate<Findings>(`axe.run({ resultTypes: ['violations'], runOnly: ${ofColours} })`)
  await page.emulateMedia({ colorScheme: now })
  return [...sentencesOf(found, now), ...sentencesOf(foundInOther, other)]
}

const isDark = (page: Page) => page.evaluate<boolean>("matchMedia('(prefers-color-scheme: dark)').matches")

const sentencesOf = ({ violations }: Findings, colours: string) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id} in ${colours} colours: ${html}`))

export const widthOf = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth')

/** Fails with what axe finds, and when the page is wider than its window. */
export async function expectFitForAll(page: Page): Promise<void> {
  expect(await violationsOn(page)).toEqual([])
  expect(await widthOf(page)).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0)
}
