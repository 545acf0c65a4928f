/** The whole state is exported as a document and imported again, the same way for every kind of state. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ProblemsError } from '../../src/check/problem.js'
import type { State } from '../../src/core/state.js'
import { documentOf, type StateDocument } from '../../src/state/document.js'
import { exportState, importState } from '../../src/state/index.js'
import { runs } from '../runs.js'
import { AN_OBJECT, isMissing, isUnknown, mustBe } from '../sentences.js'
import { documents, inOrder } from './documents.js'
import { fresh, kinds, lasting, opened } from './kinds.js'
import {
  apiKey,
  at,
  flowState,
  message,
  oneTimeToken,
  refreshToken,
  resource,
  resourceRow,
  session,
  user,
} from './rows.js'

const nothing = documentOf({
  users: [],
  sessions: [],
  refresh_tokens: [],
  one_time_tokens: [],
  flow_states: [],
  api_keys: [],
  messages: [],
  resources: [],
  resource_rows: [],
})

const everything = documentOf({
  users: [user({ id: 'bob', created_at: at(1) }), user({ email: 'ada@example.com' })],
  sessions: [session()],
  refresh_tokens: [refreshToken()],
  one_time_tokens: [oneTimeToken()],
  flow_states: [flowState()],
  api_keys: [apiKey()],
  messages: [message()],
  resources: [resource()],
  resource_rows: [resourceRow()],
})

const overTheWire = (document: StateDocument): unknown => JSON.parse(JSON.stringify(document))

/** Changes something in every table. */
const change = (state: State) =>
  state.write(async tables => {
    await tables.users.insert(user({ id: 'newcomer', email: 'newcomer@example.com' }))
    await tables.sessions.remove({})
    await tables.refresh_tokens.insert(refreshToken({ token: 'another' }))
    await tables.one_time_tokens.remove({})
    await tables.flow_states.insert(flowState({ id: 'another' }))
    for (const { id } of await tables.api_keys.find({})) await tables.api_keys.update(id, { revoked_at: at(9) })
    await tables.messages.remove({})
  })

describe.each(kinds)('in $kind', kind => {
  const numRuns = runs(kind.kind === 'PostgreSQL' ? 20 : 60)

  test('importing an exported document restores a state that has changed', async () => {
    const state = await fresh(kind)
    await fc.assert(
      fc.asyncProperty(documents, async document => {
        await importState(state, document)
        const before = await exportState(state)
        await change(state)
        expect(await exportState(state)).not.toEqual(before)
        await importState(state, overTheWire(before))
        expect(JSON.stringify(await exportState(state))).toBe(JSON.stringify(before))
      }),
      { numRuns, endOnFailure: true },
    )
  })

  test('an import keeps every row of the document and no others', async () => {
    const state = await fresh(kind)
    await fc.assert(
      fc.asyncProperty(documents, async document => {
        await importState(state, overTheWire(document))
        expect(inOrder(await exportState(state))).toEqual(inOrder(document))
      }),
      { numRuns, endOnFailure: true },
    )
  })

  test('the newest rows come first, and metadata keeps the order of its keys', async () => {
    const state = await fresh(kind)
    const told = user({ id: 'told', created_at: at(5), user_metadata: { z: 1, a: { y: 2, b: '\u0000' } } })
    await importState(state, { ...everything, users: [...everything.users, told] })
    const { users } = await exportState(state)
    expect(users.map(({ id }) => id)).toEqual(['told', 'bob', 'ada'])
    expect(JSON.stringify(users[0]?.user_metadata)).toBe(JSON.stringify(told.user_metadata))
  })

  test('an invalid document changes nothing', async () => {
    const state = await fresh(kind)
    await importState(state, everything)
    const twins = [user({ id: 'one', email: 'x@example.com' }), user({ id: 'two', email: 'x@example.com' })]
    await expect(importState(state, { ...nothing, users: twins })).rejects.toThrow(ProblemsError)
    expect(await exportState(state)).toEqual(everything)
  })

  test('a reader sees an import completely or not at all', async () => {
    const state = await fresh(kind)
    await importState(state, everything)
    const many = Array.from({ length: 300 }, (_, i) => user({ id: `user ${i}` }))
    let isOver = false
    const importing = importState(state, { ...nothing, users: many }).finally(() => {
      isOver = true
    })
    const seen = new Set<string>()
    while (!isOver) {
      const { users, messages } = await exportState(state)
      seen.add(`${users.length} users, ${messages.length} messages`)
      await new Promise(setImmediate)
    }
    await importing
    for (const sight of seen) expect(['2 users, 1 messages', '300 users, 0 messages']).toContain(sight)
    expect((await exportState(state)).users).toHaveLength(300)
  })

  test('an import notifies listeners, which then drop what they have cached', async () => {
    const state = await fresh(kind)
    await importState(state, everything)
    let told = 0
    state.onRevoked(() => {
      told++
    })
    await importState(state, nothing)
    expect(told).toBe(1)
  })
})

describe.each(lasting)('in $kind', kind => {
  test('an import by one instance notifies the others and appears in their exports', async () => {
    const place = await kind.emptyPlace()
    const [here, elsewhere] = await Promise.all([opened(place), opened(place)])
    await importState(here, everything)
    const told = new Promise<void>(resolve => here.onRevoked(resolve))
    await importState(elsewhere, nothing)
    await told
    expect(await exportState(here)).toEqual(nothing)
  })
})

const aMoment = 'a moment such as 2030-01-31T12:00:00.000Z'
const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`)

const mistakes: readonly (readonly [string, unknown, string])[] = [
  ['null', null, mustBe('The state', AN_OBJECT, null)],
  ['a list', [], mustBe('The state', AN_OBJECT, [])],
  [
    'another version',
    { ...everything, version: 2 },
    mustBe('version', '1, the version that this Standin reads and writes', 2),
  ],
  ['no version', { ...everything, version: undefined }, expect.stringMatching(/^version /)],
  ['a table that is not a list', { ...everything, users: {} }, mustBe('users', 'a list of rows', {})],
  ['an unknown table', { ...everything, people: [] }, expect.stringContaining(`people ${isUnknown()}`)],
  ['a missing table', { version: 1, users: [] }, isMissing('sessions', 'a list of rows')],
  ['a row that is not an object', { ...everything, sessions: [session(), 7] }, mustBe('sessions[1]', AN_OBJECT, 7)],
  [
    'an invalid row far down',
    { ...everything, sessions: [...Array.from({ length: 150 }, () => session()), 7] },
    mustBe('sessions[150]', AN_OBJECT, 7),
  ],
  [
    'a field of the wrong type',
    { ...everything, users: [user(), user({ id: 'b', email: 5 as never })] },
    mustBe('users[1].email', 'an email address in lower case, or null', 5),
  ],
  [
    'an unknown field',
    { ...everything, sessions: [{ ...session(), ip: 'x' }] },
    expect.stringMatching(/^sessions\[0\]\.ip is not/),
  ],
  [
    'a missing field',
    { ...everything, messages: [{ ...message(), code: undefined }] },
    expect.stringMatching(/^messages\[0\]\.code /),
  ],
  [
    'a timestamp in words',
    { ...everything, api_keys: [apiKey({ expires_at: 'tomorrow' })] },
    mustBe('api_keys[0].expires_at', `${aMoment}, or null`, 'tomorrow'),
  ],
  [
    'a timestamp in another format',
    { ...everything, users: [user({ created_at: '2030-01-31T12:00:00Z' })] },
    mustBe('users[0].created_at', aMoment, '2030-01-31T12:00:00Z'),
  ],
  [
    'text with a NUL character',
    { ...everything, users: [user({ role: 'a\0b' })] },
    expect.stringMatching(/^users\[0\]\.role .* a text of whole characters, without NUL/),
  ],
  [
    'text with a lone surrogate',
    { ...everything, messages: [message({ code: '\ud800' })] },
    expect.stringMatching(/^messages\[0\]\.code .* a text or null of whole characters/),
  ],
  [
    'metadata that is a list',
    { ...everything, users: [user({ user_metadata: [] as never })] },
    mustBe('users[0].user_metadata', 'an object of at most 1000 levels', []),
  ],
  [
    'metadata that is nested too deeply',
    { ...everything, users: [user({ app_metadata: deep })] },
    mustBe('users[0].app_metadata', 'an object of at most 1000 levels', {}),
  ],
  [
    'an invalid identity',
    { ...everything, users: [user({ identities: [{ provider: 'github' }] as never })] },
    expect.stringMatching(/^users\[0\]\.identities\[0\]\./),
  ],
  [
    'an unknown token type',
    { ...everything, one_time_tokens: [oneTimeToken({ token_type: 'x' as never })] },
    expect.stringMatching(/^one_time_tokens\[0\]\.token_type .* confirmation_token, .*, not "x"\.$/),
  ],
  [
    'an email that is not in lower case',
    { ...everything, users: [user({ email: 'Eve@example.com' })] },
    mustBe('users[0].email', 'an email address in lower case, or null', 'Eve@example.com'),
  ],
  [
    'a phone number that is not just digits',
    { ...everything, users: [user({ phone: '+4915112345' })] },
    mustBe('users[0].phone', 'the digits of a phone number, or null', '+4915112345'),
  ],
  [
    'a timestamp after the year 9999',
    { ...everything, api_keys: [apiKey({ expires_at: '+010000-01-01T00:00:00.000Z' })] },
    mustBe('api_keys[0].expires_at', `${aMoment}, or null`, '+010000-01-01T00:00:00.000Z'),
  ],
  [
    'two rows with the same key',
    { ...everything, refresh_tokens: [refreshToken(), refreshToken({ token: 'b' }), refreshToken()] },
    'refresh_tokens[2].token must not be that of refresh_tokens[0].',
  ],
  [
    'two users with the same email',
    { ...everything, users: [user({ email: 'x@y.z' }), user({ id: 'b', email: 'x@y.z' })] },
    'users[1].email must not be that of users[0].',
  ],
]

test.each(mistakes)(
  'an invalid document is refused with an error that names the row and the field: %s',
  async (_what, document, sentence) => {
    const state = await opened({ where: 'memory', dir: '/' })
    const error = await importState(state, document).catch(error => error)
    expect(error).toBeInstanceOf(ProblemsError)
    expect(error.problems).toEqual([{ origin: 'state', sentence }])
    expect(await exportState(state)).toEqual(nothing)
  },
)
