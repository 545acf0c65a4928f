/** Tests read and change the rows of resources, in this process and in another one. */
import { expect, test } from 'vitest'
import { connect, type PlatformOptions, type SharedPlatform } from '../../src/index.js'
import { control } from '../http/controlled.js'
import { platformWith } from '../scene.js'
import { didYouMean } from '../sentences.js'

const path = '/builder/projects'
const resources: PlatformOptions['resources'] = {
  [path]: { data: [{ id: 1, name: 'Atlas', user_id: 'developer@example.com' }], owner: 'user' },
}

test.each<[string, (url: string) => Promise<SharedPlatform> | undefined]>([
  ['in this process', () => undefined],
  ['in another process', url => connect(url)],
])('a test %s inserts, changes and removes rows, and the app sees it', async (_, elsewhere) => {
  const scene = await platformWith({ resources })
  const platform: SharedPlatform = (await elsewhere(scene.url)) ?? scene
  const projects = platform.resource(path)
  const [atlas] = await projects.rows()
  expect(await projects.insert({ name: 'Borealis', user_id: atlas?.user_id })).toMatchObject({ id: 2 })
  await projects.update(1, { name: 'Atlas 2' })
  const { accessToken } = await platform.signIn()
  const list = async () =>
    ((await (await scene.ask(path, { bearer: accessToken })).json()) as { readonly name: string }[]).map(
      ({ name }) => name,
    )
  expect(await list()).toEqual(['Atlas 2', 'Borealis'])
  await projects.remove('2')
  expect(await list()).toEqual(['Atlas 2'])
  await expect(projects.remove(2)).rejects.toThrow('There is no "2" here.')
  await expect(projects.insert({ id: 1 })).rejects.toThrow('There is a row with the id "1" already.')
  await expect(platform.resource('/builder/project').rows()).rejects.toThrow(
    `There is no resource "/builder/project".${didYouMean('/builder/projects')}`,
  )
  const scope = await platform.scope('mine')
  await scope.resource(path).remove(1)
  expect([(await scope.resource(path).rows()).length, (await projects.rows()).length]).toEqual([0, 1])
  await scope.reset()
  expect(await scope.resource(path).rows()).toHaveLength(1)
})

test('the control API lists resources and pages through their rows', async () => {
  const platform = await platformWith({ resources })
  expect((await control(platform, 'GET /resources')).body).toEqual({
    data: [
      {
        ...{ path, access: ['apiKey', 'user', 'service'], owner: 'user_id', rows: 1 },
        only: ['list', 'get', 'create', 'update', 'replace', 'delete'],
        id: { field: 'id', as: 'integer' },
      },
    ],
  })
  const one = `/resources/${encodeURIComponent(path)}`
  await platform.resource(path).insert({ name: 'Borealis' })
  expect((await control(platform, `GET ${one}/rows?offset=1&limit=1`)).body).toMatchObject({
    data: [{ id: '2', row: { id: 2, name: 'Borealis' }, owner: null, isFromStart: false }],
    total: 2,
  })
})
