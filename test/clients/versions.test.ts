import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { clientsTable } from './versions.js'

test('docs/clients.md lists the tested versions', () => {
  const page = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8')
  expect(page, 'npm run clients -- --write updates it').toContain(`\n${clientsTable()}\n`)
})
