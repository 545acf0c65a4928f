/** Where rows are stored: across restarts, beside a changing data file, and in a state that platforms share. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { folderWith } from '../command.js'
import { clientOf } from '../keys/people.js'
import { postgres } from '../postgres.js'
import { liveWith, tape } from '../recordings/live.js'
import { platformWith } from '../scene.js'
import { opened } from '../state/kinds.js'

const at = '/builder/projects'

const config = (state: string) => `state: ${state}\nresources:\n  ${at}: { data: projects.json }\n`
const project = (id: number, name: string) => ({ id, name })

test('rows changed by the app survive a change of the data file; other rows follow the file', async () => {
  const dir = folderWith({
    'platform.config.yaml': config('file:state.db'),
    'projects.json': JSON.stringify([project(1, 'Atlas'), project(2, 'Borealis'), project(3, 'Cygnus')]),
  })
  const start = () => platformWith({ config: path.join(dir, 'platform.config.yaml') })
  const before = await start()
  const rows = before.resource(at)
  await rows.update(1, { name: 'Atlas 2' })
  await rows.insert({ name: 'Draco' })
  await before.stop()

  const changed = [project(1, 'Atlas'), project(2, 'Borealis 2'), project(9, 'Eridanus')]
  writeFileSync(path.join(dir, 'projects.json'), JSON.stringify(changed))
  const after = await start()
  expect(await after.resource(at).rows()).toEqual([
    project(1, 'Atlas 2'),
    project(2, 'Borealis 2'),
    project(4, 'Draco'),
    project(9, 'Eridanus'),
  ])
  expect(await after.resource(at).insert({ name: 'Fornax' })).toEqual(project(10, 'Fornax'))
})

test('a user who signed up before they were configured owns the rows that the data file gives to their address', async () => {
  const dir = folderWith({
    'platform.config.yaml': 'state: file:state.db\n',
    'configured.yaml': `${config('file:state.db').replace('{ ', '{ owner: user, ')}users: [{ email: ada@example.com }]\n`,
    'projects.json': JSON.stringify([{ ...project(1, 'Atlas'), user_id: 'Ada@example.com' }]),
  })
  const start = (file: string) => platformWith({ config: path.join(dir, file) })
  const before = await start('platform.config.yaml')
  const client = clientOf(before, before.anonKey)
  const { data } = await client.auth.signUp({ email: 'ada@example.com', password: 'correct horse' })
  await before.stop()

  const after = await start('configured.yaml')
  const { accessToken, user } = await after.signIn({ email: 'ada@example.com' })
  expect(user.id).toBe(data.user?.id)
  const rows = await (await after.ask(at, { bearer: accessToken })).json()
  expect(rows).toEqual([{ ...project(1, 'Atlas'), user_id: user.id }])
})

test('a row that was deleted stays deleted in states that earlier releases have written', async () => {
  const [where, dir] = ['file:state.db', folderWith()]
  const platform = await platformWith({
    state: `file:${path.join(dir, 'state.db')}`,
    resources: { [at]: { data: [project(1, 'Atlas')] } },
  })
  await platform.resource(at).rows()
  const resources = await (await opened({ where, dir })).read(({ resources }) => resources.find({}))
  // As in the releases so far. With another digest, a start takes the data for changed, and adds deleted rows again.
  expect(resources[0]?.seed).toBe('cb6560845b2d3d004c3cf311fd5b449cb835762929965f85b0a862a2683c06ea')
})

const server = postgres()

test.skipIf(!server)('platforms on the same PostgreSQL share rows and use each id once', async () => {
  const state = (await server?.freshDatabase()) ?? ''
  const options = { state, resources: { [at]: { data: [project(1, 'Atlas')] } } }
  const [one, other] = await Promise.all([platformWith(options), platformWith(options)])
  const inserting = [one, other, one, other].map(platform => platform.resource(at).insert({}))
  expect((await Promise.all(inserting)).map(({ id }) => id).toSorted()).toEqual([2, 3, 4, 5])
  await one.resource(at).remove(1)
  expect(await other.resource(at).rows()).toEqual(await one.resource(at).rows())
})

test('in mode record the live platform answers, in mode replay its recording', async () => {
  const live = await liveWith((_request, response) =>
    response.setHeader('content-type', 'application/json').end('[{"id":"live"}]'),
  )
  const scene = tape(live.url)
  const resources = { [at]: { data: [project(1, 'Atlas')] } }
  const recording = await scene.recording({ resources })
  expect(await (await recording.ask(at)).json()).toEqual([{ id: 'live' }])
  expect((await recording.ask(at, { bearer: null })).status).toBe(401)
  await recording.stop()
  const replaying = await scene.replaying({ resources })
  expect(await (await replaying.ask(at)).json()).toEqual([{ id: 'live' }])
  expect((await replaying.ask(`${at}/1`)).status).toBe(424)
})
