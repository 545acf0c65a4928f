import { expect, test } from 'vitest'
import { knownPaths } from '../../src/cli/advice.js'
import { hello, platformWith } from '../scene.js'

test('the paths that are proposed in place of unknown ones are all answered', async () => {
  const platform = await platformWith()
  for (const path of knownPaths) {
    const { status } = await platform.ask(path, { headers: { apikey: platform.anonKey } })
    expect({ path, status }).not.toMatchObject({ status: 404 })
  }
  expect(knownPaths).toContain('/v1/chat/completions')
  expect((await platform.chat(hello)).status).toBe(200)
})
