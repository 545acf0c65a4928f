import { expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { version } from '../src/version.js'

test('the version that the command tells is that of the package', () => {
  expect(version).toBe(manifest.version)
})
