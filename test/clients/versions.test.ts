import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { clientsList } from './versions.js'

test('docs/getting-started.md lists the tested versions', () => {
  const page = readFileSync(new URL('../../docs/getting-started.md', import.meta.url), 'utf8')
  expect(page, 'npm run clients -- --write updates it').toContain(`\n${clientsList()}\n`)
})
