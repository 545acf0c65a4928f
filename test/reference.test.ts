/** The tables in docs/ and platform.config.yaml are as the code has them. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { referenceFiles } from './reference.js'

test('generated files are as "npm run reference" writes them', async () => {
  for (const [file, text] of Object.entries(await referenceFiles()))
    expect(readFileSync(path.join(import.meta.dirname, '..', file), 'utf8'), file).toBe(text)
})
