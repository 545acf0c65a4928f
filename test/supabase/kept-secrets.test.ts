/** A stored secret is of no use by itself, and states of earlier versions, which stored secrets in plain text, still work. */
import { createHash } from 'node:crypto'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { snapshotOf } from '../../src/state/index.js'
import { type Kind, lasting, opened, type Place } from '../state/kinds.js'
import { type Backend, backendWith, bodyOf, follow, newcomer } from './backend.js'

const refresh = async ({ ask }: Backend, refresh_token: string) =>
  bodyOf(ask('/token?grant_type=refresh_token', { body: { refresh_token } }))

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const linkHashOf = (link: string) => new URL(link).searchParams.get('token') ?? ''

test('a copy of the state without its outbox contains no usable secret', async () => {
  const place = await (lasting[0] as Kind).freshPlace()
  const backend = await backendWith({}, { state: stateOf(place) })
  const { ask, messageTo } = backend
  const state = await opened(place)
  const ada = await newcomer(backend)
  const { refresh_token: second } = await refresh(backend, ada.refresh_token)
  const verifier = 'a-verifier-that-only-the-app-knows-0123456789'
  const pkce = { code_challenge: verifier, code_challenge_method: 'plain' }
  await ask('/recover', { body: { email: ada.email, ...pkce } })
  const { link } = messageTo(ada.email)
  const { messages: _outbox, ...kept } = await snapshotOf(state)
  const { query } = await follow(link)
  const { messages: _later, ...afterwards } = await snapshotOf(state)
  const text = JSON.stringify([kept, afterwards])
  for (const secret of [ada.refresh_token, second, linkHashOf(link), query.code, verifier]) {
    expect(secret).toMatch(/^[\w-]{12,}$/)
    expect(text).not.toContain(secret)
  }

  for (const { token, parent } of kept.refresh_tokens) {
    for (const one of [token, parent ?? token]) {
      expect((await refresh(backend, one)).error_code).toBe('validation_failed')
    }
  }
  const [{ token_hash = '' } = {}] = kept.one_time_tokens
  expect(token_hash).toBe(sha256(linkHashOf(link)))
  expect((await bodyOf(ask('/verify', { body: { token_hash, type: 'recovery' } }))).error_code).toBe('otp_expired')
  const exchange = (auth_code: string) =>
    bodyOf(ask('/token?grant_type=pkce', { body: { auth_code, code_verifier: verifier } }))
  expect((await exchange(afterwards.flow_states[0]?.auth_code ?? '')).error_code).toBe('flow_state_not_found')
  expect(await exchange(String(query.code))).toHaveProperty('access_token')
})

/** Runs SQL on the database of a place. */
async function run({ where, dir }: Place, statements: readonly string[]) {
  if (where.startsWith('file:')) {
    const file = new DatabaseSync(path.join(dir, where.slice('file:'.length)))
    for (const sql of statements) file.exec(sql)
    return file.close()
  }
  const client = new pg.Client({ connectionString: where })
  await client.connect()
  await client.query('set search_path to standin')
  for (const sql of statements) await client.query(sql)
  await client.end()
}

const stateOf = ({ where, dir }: Place) =>
  where.startsWith('file:') ? `file:${path.join(dir, where.slice('file:'.length))}` : where

describe.each(lasting)('in $kind', kind => {
  test('a state of an earlier version is migrated, and its refresh tokens and links still work', async () => {
    const place = await kind.freshPlace()
    const before = await backendWith({}, { state: stateOf(place) })
    const ada = await newcomer(before)
    await before.ask('/recover', { body: { email: ada.email } })
    const hash = linkHashOf(before.messageTo(ada.email).link)
    await before.stop()
    // As the first version stored it, with a token that had already been replaced.
    const [first, second] = ['abcdefgh2345', 'zyxwvuts7654']
    await run(place, [
      'alter table refresh_tokens drop column salt',
      `update refresh_tokens set token = '${second}', parent = '${first}'`,
      `insert into refresh_tokens select '${first}', session_id, user_id, null, 1, created_at, updated_at from refresh_tokens`,
      `update one_time_tokens set token_hash = '${hash}'`,
      'drop table resource_rows',
      'drop table resources',
      `delete from standin_migrations where name > '002'`,
    ])

    const backend = await backendWith({}, { state: stateOf(place) })
    const { refresh_tokens, one_time_tokens } = await snapshotOf(await opened(place))
    const family = refresh_tokens.map(({ token, parent, salt, revoked }) => ({ token, parent, salt, revoked }))
    expect(family).toEqual(
      expect.arrayContaining([
        { token: sha256(first), parent: null, salt: null, revoked: true },
        { token: sha256(second), parent: sha256(first), salt: null, revoked: false },
      ]),
    )
    expect(one_time_tokens[0]?.token_hash).toBe(sha256(hash))
    // The response with the second one may have been lost.
    expect(await refresh(backend, first)).toHaveProperty('access_token')
    const third = await refresh(backend, second)
    expect(await refresh(backend, third.refresh_token)).toHaveProperty('access_token')
    const proved = await bodyOf(backend.ask('/verify', { body: { token_hash: hash, type: 'recovery' } }))
    expect(proved).toHaveProperty('access_token')
  })
})
