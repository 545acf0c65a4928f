import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '..')
const readme = ['README.md', 'docs/dashboard.md'].map(name => readFileSync(path.join(root, name), 'utf8')).join('\n')
const views = ['requests']

/** The width in the header of a PNG file; undefined for any other file. */
function pngWidth(file: string): number | undefined {
  const bytes = readFileSync(path.join(root, file))
  return bytes.toString('latin1', 1, 4) === 'PNG' ? bytes.readUInt32BE(16) : undefined
}

test('the screenshots of the dashboard exist, light and dark', () => {
  for (const view of views)
    for (const look of ['light', 'dark']) expect(pngWidth(`fixtures/screenshots/${view}-${look}.png`)).toBe(1280)
})

test('every image in the README and on the page about the dashboard exists', () => {
  const named = [...readme.matchAll(/(?:src|srcset)="(?:\.\.\/)?([^"]+\.png)"/g)].map(([, file = '']) => file)
  expect(named.filter(file => !existsSync(path.join(root, file)))).toEqual([])
})
