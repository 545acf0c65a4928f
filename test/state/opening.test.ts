/** A state that cannot be opened says why, and what to do about it. */
import { chmodSync, copyFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { StartError } from '../../src/check/problem.js'
import { openPlatform } from '../../src/platform.js'
import { openState } from '../../src/state/index.js'
import { filePlace, freshFolder, lasting, opened, type Place, server } from './kinds.js'
import { apiKey, message, session, user } from './rows.js'

test('a value that names no state is refused with a list of the valid forms', async () => {
  expect(await refusal({ where: 'redis://localhost', dir: '/' })).toBe(
    'The state is kept in "memory", "file:PATH" or "postgres://user:password@host/database".',
  )
})

describe.each(lasting)('in $kind', kind => {
  test('everything is still there when it is opened again', async () => {
    const place = await kind.freshPlace()
    const first = await opened(place)
    await first.write(async ({ users, sessions, api_keys, messages }) => {
      await users.insert(user({ email: 'ada@example.com', user_metadata: { ä: ['ß'] } }))
      await sessions.insert(session())
      await api_keys.insert(apiKey())
      await messages.insert(message())
    })
    await first.close()
    const again = await opened(place)
    const everything = await again.read(async ({ users, sessions, api_keys, messages }) => [
      ...(await users.find({ email: 'ada@example.com' })),
      ...(await sessions.find({})),
      ...(await api_keys.find({})),
      ...(await messages.find({})),
    ])
    const kept = [user({ email: 'ada@example.com', user_metadata: { ä: ['ß'] } }), session(), apiKey(), message()]
    expect(everything).toEqual(kept)
  })

  test('a new one can be opened by many at the same moment', async () => {
    const place = await kind.freshPlace()
    const states = await Promise.all(Array.from({ length: 8 }, () => opened(place)))
    await Promise.all(states.map((state, n) => state.write(({ users }) => users.insert(user({ id: `u${n}` })))))
    for (const state of states) expect(await state.read(({ users }) => users.count({}))).toBe(8)
  })
})

describe('in a file', () => {
  test('the file and its folders are created for this user only, and Git ignores them', async () => {
    const dir = freshFolder()
    const state = await opened({ where: 'file:.standin/deep/state.db', dir })
    await state.write(({ users }) => users.insert(user()))
    const modeOf = (name: string) => (statSync(path.join(dir, name)).mode & 0o777).toString(8)
    expect(modeOf('.standin')).toBe('700')
    expect(modeOf('.standin/deep')).toBe('700')
    for (const end of ['', '-wal', '-shm']) expect(modeOf(`.standin/deep/state.db${end}`)).toBe('600')
    expect(readFileSync(path.join(dir, '.standin/.gitignore'), 'utf8')).toBe('*\n')
  })

  test('a file that is not a database is refused and left as it was', async () => {
    const dir = freshFolder()
    const text = 'port: 4000\n'.repeat(100)
    writeFileSync(path.join(dir, 'platform.config.yaml'), text)
    expect(await refusal({ where: 'file:platform.config.yaml', dir })).toBe(
      `The state cannot be kept in ${dir}/platform.config.yaml: it is not a database of Standin, or a damaged one. Move it away, or choose another file.`,
    )
    expect(readFileSync(path.join(dir, 'platform.config.yaml'), 'utf8')).toBe(text)
  })

  test('an empty file, of which everything is lost, is refused and left as it was', async () => {
    const place = filePlace()
    await (await opened(place)).close()
    const file = path.join(place.dir, 'state.db')
    truncateSync(file)
    expect(await refusal(place)).toMatch(
      /state.db: it is not a database of Standin, or a damaged one. Move it away, or choose another file.$/,
    )
    expect(readdirSync(place.dir)).toEqual(['state.db'])
    expect(statSync(file).size).toBe(0)
  })

  test('a database of another program is refused', async () => {
    const place = filePlace()
    const database = databaseAt(place)
    database.exec('create table users (name text)')
    database.close()
    expect(await refusal(place)).toMatch(
      /state.db: it is not a database of Standin, or a damaged one. Move it away, or choose another file.$/,
    )
  })

  test('a folder that is not writable is refused, with an alternative', async () => {
    const dir = freshFolder()
    chmodSync(dir, 0o555)
    asNobody()
    expect(await refusal({ where: 'file:state.db', dir })).toBe(
      `The state cannot be kept in ${dir}/state.db: it cannot be opened or written (EACCES: permission denied). Allow it, make room on the disk, choose another file, or keep nothing with --state memory.`,
    )
  })

  test('a file that another program has locked is refused', async () => {
    const place = filePlace()
    const database = databaseAt(place)
    onTestFinished(() => void database.close())
    database.exec('create table anything (name text); begin exclusive')
    expect(await refusal(place)).toMatch(
      /state.db: another program has locked it. Close that program, or choose another file.$/,
    )
  })

  test('a start with a damaged file reports that once and does not blame the configuration', async () => {
    const { dir } = filePlace()
    const place = { where: `file:${path.join(dir, 'state.db')}`, dir }
    await (await opened(place)).close()
    damageUsers(place)
    const told: string[] = []
    const starting = openPlatform({
      ...{ cwd: dir, file: false, listen: false, warn: told.push.bind(told) },
      flags: [{ path: ['state'], value: place.where, origin: 'here' }],
    })
    const sentence = `The state cannot be kept in ${dir}/state.db: it is not a database of Standin, or a damaged one. Move it away, or choose another file.`
    await expect(starting).rejects.toEqual(new StartError(sentence))
    expect(told).toEqual([])
  })

  test('a file that release 0.2.0 wrote is opened with all that is in it', async () => {
    const place = filePlace()
    const database = databaseAt(place)
    database.exec('pragma journal_mode = wal')
    database.exec(readFileSync(path.join(import.meta.dirname, 'release-0.2.0.sql'), 'utf8'))
    // Copied while it is open, as a killed process leaves it: everything is still in the log.
    const dir = freshFolder()
    for (const name of ['state.db', 'state.db-wal']) copyFileSync(path.join(place.dir, name), path.join(dir, name))
    database.close()
    const state = await opened({ where: place.where, dir })
    const { users, keys } = await state.read(async ({ users, api_keys }) => ({
      users: await users.find({}),
      keys: await api_keys.find({}),
    }))
    expect(users.map(({ email }) => email)).toEqual(['ada@example.com', 'developer@example.com'])
    expect(users[0]).toMatchObject({ user_metadata: { name: 'Ada' }, is_anonymous: false })
    expect(keys.map(({ name, seeded }) => [name, seeded])).toEqual([
      ['laptop', false],
      ['development', true],
    ])
    await state.write(({ users }) => users.insert(user({ email: 'bob@example.com' })))
  })

  test('a file from a newer version of Standin is refused', async () => {
    const place = filePlace()
    await (await opened(place)).close()
    const database = databaseAt(place)
    database.exec(`insert into standin_migrations values ('999-later', '2030-01-01T00:00:00.000Z')`)
    database.close()
    expect(await refusal(place)).toBe(
      `The state in ${place.dir}/state.db is from a newer version of Standin. Update Standin, or choose another place.`,
    )
  })
})

describe.skipIf(!server)('in PostgreSQL', () => {
  const freshUrl = async () => new URL((await server?.freshDatabase()) ?? '')
  const refusalOf = async (url: URL | string) => {
    const sentence = await refusal({ where: String(url), dir: '/' })
    expect(sentence).not.toMatch(/horse/)
    return sentence
  }

  test('an unreachable server is named', async () => {
    const url = await freshUrl()
    url.port = String(await closedPort())
    expect(await refusalOf(url)).toBe(
      `No PostgreSQL answers at ${url.host}. Start it, or correct the host and port in the URL of the state.`,
    )
  })

  test('a wrong password is not repeated', async () => {
    const url = await freshUrl()
    url.password = 'wrong-horse'
    expect(await refusalOf(url)).toBe(
      `PostgreSQL at ${url.host} refuses the password of the user "ada". Correct it in the URL of the state.`,
    )
  })

  test('an unknown database is named', async () => {
    const url = await freshUrl()
    url.pathname = '/nothing'
    expect(await refusalOf(url)).toBe(
      `PostgreSQL at ${url.host} has no database "nothing". Create it, or correct the URL of the state.`,
    )
  })

  test('a user who may not use the existing schema is named', async () => {
    const url = await freshUrl()
    await (await opened({ where: String(url), dir: '/' })).close()
    const guest = `guest_${url.pathname.slice(1)}`
    await query(url, `create role ${guest} login password 'guest-horse'`)
    const guestUrl = Object.assign(new URL(url), { username: guest, password: 'guest-horse' })
    const grant =
      /^The user "guest_test_\d+" may not use the schema "standin" .* \(permission denied .*\)\. Grant USAGE and CREATE on the schema, and ALL on its tables\.$/
    expect(await refusalOf(guestUrl)).toMatch(grant)
    await query(url, `grant usage, create on schema standin to ${guest}`)
    expect(await refusalOf(guestUrl)).toMatch(grant)
    await query(url, `grant all on all tables in schema standin to ${guest}`)
    await (await opened({ where: String(guestUrl), dir: '/' })).close()
  })

  test.each([
    'postgres://ada:battery#horse@localhost/app',
    'postgres://ada:12/horse@localhost/app',
    'postgres://ada:12?horse@localhost/app',
    'postgres://ada:12#horse@localhost/app',
    'postgres://ada:horse@localhost:port/app',
    'postgres://ada:horse@localhost:99999/app',
  ])('the malformed URL %s is refused', async url => {
    expect(await refusalOf(url)).toMatch(/^The PostgreSQL URL of the state cannot be read. Write postgres:/)
  })

  test('a missing file that the URL refers to is named', async () => {
    expect(await refusalOf('postgres://ada:horse@localhost/app?sslrootcert=/nothing.pem')).toBe(
      'The PostgreSQL URL of the state names /nothing.pem, which cannot be read (ENOENT).',
    )
  })

  test('a database from a newer version of Standin is refused', async () => {
    const url = await freshUrl()
    await (await opened({ where: String(url), dir: '/' })).close()
    await query(url, `insert into standin.standin_migrations values ('999-later', '2030-01-01T00:00:00.000Z')`)
    expect(await refusalOf(url)).toBe(
      `The state in ${url.host}/${url.pathname.slice(1)} is from a newer version of Standin. Update Standin, or choose another place.`,
    )
  })

  test("the app's own tables of the same names are left alone", async () => {
    const url = await freshUrl()
    await query(url, 'create table users (name text)')
    const state = await opened({ where: String(url), dir: '/' })
    await state.write(({ users }) => users.insert(user()))
    expect((await query(url, 'select * from users')).rows).toEqual([])
  })
})

/** The message of the error when a state cannot be opened. */
async function refusal({ where, dir }: Place): Promise<string> {
  const error = await openState(where, { dir }).then(
    state => state.close().then(() => undefined),
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(StartError)
  return (error as StartError).message
}

/** Overwrites the first page of the users table. */
function damageUsers(place: Place): void {
  const database = databaseAt(place)
  database.exec('pragma wal_checkpoint(truncate)')
  const { rootpage } = database.prepare(`select rootpage from sqlite_master where name = 'users'`).get() as {
    rootpage: number
  }
  database.close()
  const file = path.join(place.dir, 'state.db')
  writeFileSync(file, readFileSync(file).fill(0xee, (rootpage - 1) * 4096, rootpage * 4096))
}

const databaseAt = ({ dir }: Place) => new DatabaseSync(path.join(dir, 'state.db'))

async function query(url: URL, text: string) {
  const client = new pg.Client({ connectionString: String(url) })
  await client.connect()
  try {
    return await client.query(text)
  } finally {
    await client.end()
  }
}

/** A port that was free a moment ago. */
const closedPort = () =>
  new Promise<number>(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

/** Drops the rights of root until the end of the test. */
function asNobody(): void {
  if (process.getuid?.() !== 0) return
  process.seteuid?.(65_534)
  onTestFinished(() => void process.seteuid?.(0))
}
