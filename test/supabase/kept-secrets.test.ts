/** A stored secret is of no use by itself. */
import { createHash } from 'node:crypto'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { snapshotOf } from '../../src/state/index.js'
import { filePlace, opened, type Place } from '../state/kinds.js'
import { type Backend, backendWith, bodyOf, follow, newcomer } from './backend.js'

const refresh = async ({ ask }: Backend, refresh_token: string) =>
  bodyOf(ask('/token?grant_type=refresh_token', { body: { refresh_token } }))

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const linkHashOf = (link: string) => new URL(link).searchParams.get('token') ?? ''

test('a copy of the state without its outbox contains no usable secret', async () => {
  const place = filePlace()
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

const stateOf = ({ where, dir }: Place) => `file:${path.join(dir, where.slice('file:'.length))}`

test('a state of the first version, which stored secrets in clear, is opened without them; its users sign in again', async () => {
  const place = filePlace()
  const before = await backendWith({}, { state: stateOf(place) })
  const ada = await newcomer(before)
  await before.stop()
  const database = new DatabaseSync(path.join(place.dir, 'state.db'))
  database.exec(`
    alter table refresh_tokens drop column salt;
    update refresh_tokens set token = 'zyxwvuts7654';
    drop table resource_rows;
    drop table resources;
    drop table identity_owners;
    alter table messages drop column used_at;
    ${['provider', 'redirect_to', 'linking_user_id', 'is_offline'].map(name => `alter table flow_states drop column ${name};`).join('\n')}
    delete from standin_migrations where name > '002'`)
  database.close()

  const backend = await backendWith({}, { state: stateOf(place) })
  expect((await snapshotOf(await opened(place))).refresh_tokens).toEqual([])
  expect((await refresh(backend, 'zyxwvuts7654')).error_code).toBe('refresh_token_not_found')
  const { auth } = backend.client()
  expect((await auth.signInWithPassword({ email: ada.email, password: ada.password })).error).toBeNull()
})
