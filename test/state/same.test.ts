/** Both databases give the same results, whatever is done to them. */
import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type State, type TableName, type Tables, TakenError } from '../../src/state/rows.js'
import { anyCharacter } from '../characters.js'
import { runs } from '../runs.js'
import { opened, server } from './kinds.js'
import { apiKey, at, refreshToken, user } from './rows.js'

/** One operation, as a value, so that fast-check can show and shrink it. */
type Step =
  | { readonly kind: 'insert' | 'update'; readonly table: TableName; readonly key: string; readonly columns: object }
  | {
      readonly kind: 'remove' | 'find' | 'count'
      readonly table: TableName
      readonly where: object
      readonly page: object
    }
  | { readonly kind: 'get'; readonly table: TableName; readonly key: string }

interface Transaction {
  readonly steps: readonly Step[]
  readonly fails: boolean
}

// Few values, so that they collide.
const keys = fc.constantFrom('a', 'B', 'c-d', 'c_d')
const moments = fc.integer({ min: 0, max: 3 }).map(at)
const someone = fc.constantFrom(null, 'ada', 'bob')
const address = fc.constantFrom(null, 'a@x.org', 'b@x.org', 'ä@x.org')

const columns = {
  users: {
    email: address,
    phone: someone,
    role: fc.constantFrom('r', 's'),
    is_anonymous: fc.boolean(),
    created_at: moments,
    user_metadata: fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue()),
  },
  refresh_tokens: { session_id: keys, parent: someone, revoked: fc.boolean(), created_at: moments },
  api_keys: {
    user_id: someone,
    digest: fc.constantFrom('d', 'e', 'f'),
    name: fc.string({ unit: 'grapheme' }).filter(name => !name.includes('\0')),
    revoked_at: someone,
    created_at: moments,
  },
} as const
const searchable = {
  users: ['email', 'phone', 'role', 'is_anonymous', 'created_at'],
  refresh_tokens: ['session_id', 'parent', 'revoked'],
  api_keys: ['user_id', 'digest', 'name', 'revoked_at'],
} as const

const some = { requiredKeys: [] }

const stepOn = (table: keyof typeof columns): fc.Arbitrary<Step> => {
  const all: Record<string, fc.Arbitrary<unknown>> = columns[table]
  const where = fc
    .record(Object.fromEntries(searchable[table].map(column => [column, all[column] as fc.Arbitrary<unknown>])), some)
    // At most one column: more of them rarely match anything.
    .map(where => Object.fromEntries(Object.entries(where).slice(0, 1)))
  const page = fc.record({ limit: fc.nat(3), offset: fc.nat(3) }, some)
  return fc.oneof(
    fc.record({
      kind: fc.constant('insert' as const),
      table: fc.constant(table),
      key: keys,
      columns: fc.record(all, some),
    }),
    fc.record({
      kind: fc.constant('update' as const),
      table: fc.constant(table),
      key: keys,
      columns: fc.record(all, some),
    }),
    fc.record({
      kind: fc.constantFrom('remove' as const, 'find' as const, 'count' as const),
      table: fc.constant(table),
      where,
      page,
    }),
    fc.record({ kind: fc.constant('get' as const), table: fc.constant(table), key: keys }),
  )
}

const transactions: fc.Arbitrary<readonly Transaction[]> = fc.array(
  fc.record({
    steps: fc.array(fc.oneof(stepOn('users'), stepOn('refresh_tokens'), stepOn('api_keys')), { maxLength: 8 }),
    fails: fc.boolean(),
  }),
  { maxLength: 6 },
)

describe.skipIf(!server)('in PostgreSQL', () => {
  test('the results are the same as in SQLite', async () => {
    // Changes elsewhere are only looked for now and then, which is not the point here.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const memory = listenTo(await opened({ where: 'memory', dir: '/' }))
    const other = listenTo(await opened({ where: (await server?.freshDatabase()) ?? '', dir: '/' }))
    await fc.assert(
      fc.asyncProperty(transactions, async transactions => {
        expect(await resultsOf(other, transactions)).toEqual(await resultsOf(memory, transactions))
      }),
      { numRuns: runs(60), endOnFailure: false },
    )
  })
})

interface Observed {
  readonly state: State
  readonly notified: { times: number }
}

function listenTo(state: State): Observed {
  const notified = { times: 0 }
  state.onRevoked(() => {
    notified.times += 1
  })
  return { state, notified }
}

/** The results of all these transactions on a state, and the rows that are left in the end. */
async function resultsOf({ state, notified }: Observed, transactions: readonly Transaction[]) {
  const results: unknown[] = []
  await state.write(clear)
  for (const { steps, fails } of transactions) {
    const before = notified.times
    const outcome = state.write(async tables => {
      for (const step of steps) results.push(await resultOf(tables, step))
      if (fails) throw new Error('failed')
    })
    results.push(await outcome.then(() => 'committed', String), notified.times - before)
  }
  const left = await state.read(async ({ users, refresh_tokens, api_keys }) => [
    await users.find({}),
    await refresh_tokens.find({}),
    await api_keys.find({}),
  ])
  return { results, left }
}

async function clear({ users, refresh_tokens, api_keys }: Tables) {
  for (const table of [users, refresh_tokens, api_keys]) await table.remove({})
}

const wholeRows: Record<string, (key: string, columns: object) => object> = {
  users: (id, columns) => user({ id, ...columns }),
  refresh_tokens: (token, columns) => refreshToken({ token, ...columns }),
  api_keys: (id, columns) => apiKey({ id, digest: id, ...columns }),
}

interface Loose {
  get(key: string): Promise<unknown>
  find(where: object, page: object): Promise<unknown>
  count(where: object): Promise<unknown>
  remove(where: object): Promise<unknown>
  insert(row: object): Promise<unknown>
  update(key: string, changes: object): Promise<unknown>
}

async function resultOf(tables: Tables, step: Step): Promise<unknown> {
  const table = tables[step.table] as unknown as Loose
  try {
    switch (step.kind) {
      case 'insert':
        return await table.insert(wholeRows[step.table]?.(step.key, step.columns) ?? {})
      case 'update':
        return await table.update(step.key, step.columns)
      case 'remove':
        return await table.remove(step.where)
      case 'count':
        return await table.count(step.where)
      case 'find':
        return await table.find(step.where, step.page)
      case 'get':
        return await table.get(step.key)
    }
  } catch (error) {
    if (error instanceof TakenError) return 'taken'
    throw error
  }
}
