/** The tests of the app. */
import { usePlatform } from 'standin/vitest'
import { expect, test } from 'vitest'
import { signIn } from '../src/app.js'

const platform = usePlatform({ config: 'platform.config.yaml', env: true })
const ada = () => signIn('ada@example.com', 'correct horse')

test('users see their own projects', async () => {
  const { projects, create } = await ada()
  await create('Atlas')
  expect(await projects()).toMatchObject([{ name: 'Atlas' }])

  const grace = await signIn('grace@example.com', 'battery staple')
  expect(await grace.projects()).toEqual([])
})

test('a deployment reports each step', async () => {
  const { deploy } = await ada()
  const lines = []
  for await (const line of deploy('atlas')) lines.push(line)
  expect(lines).toEqual(['building atlas', 'deployed by ada@example.com'])
  await expect(platform).toHaveReceived({ path: '/builder/projects/atlas/deploy', caller: 'user' })
})

test('a deployment is refused while another one runs', async () => {
  const busy = { status: 409, json: { error: 'Another deployment is running.' } }
  await platform.reply({ on: 'POST /builder/projects/:id/deploy', reply: busy, times: 1 })
  const { deploy } = await ada()
  await expect(deploy('atlas').next()).rejects.toThrow('Another deployment is running.')
})
