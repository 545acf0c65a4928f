/** The parts behind a credential check without a server: keys, tokens, a state in memory, and a clock that is given. */
import { onTestFinished } from 'vitest'
import { developmentSecret } from '../../src/core/secrets.js'
import type { State, Tables, UserRow } from '../../src/core/state.js'
import { createApiKeys } from '../../src/keys/api-keys.js'
import { createAuthenticator } from '../../src/keys/identify.js'
import { openState } from '../../src/state/index.js'
import { createTokenHolders } from '../../src/supabase/token-holders.js'
import { createTokens } from '../../src/supabase/tokens.js'
import { newUser } from '../../src/supabase/users.js'

export const noon = Date.parse('2030-01-01T12:00:00Z')

/** Reads that wait in front of their answer until they are let go. */
export interface Gate {
  /** From now on readers wait with what they have read. */
  close(): void
  /** Resolves when a reader waits. */
  readonly reached: Promise<void>
  open(): void
  /** From now on reading fails. */
  fail(error: Error): void
}

export async function doorAt(startMs = noon) {
  let nowMs = startMs
  const now = () => nowMs
  const kept = await openState('memory', { dir: '.' })
  onTestFinished(() => kept.close())

  let writes = 0
  let held: Promise<void> | undefined
  let failure: Error | undefined
  let letGo = () => {}
  let arrive = () => {}
  const reached = new Promise<void>(resolve => {
    arrive = resolve
  })
  const state: State = {
    ...kept,
    async read(work) {
      if (failure) throw failure
      const seen = await kept.read(work)
      if (held) arrive()
      await held
      return seen
    },
    write(work) {
      writes++
      return kept.write(work)
    },
  }
  const gate: Gate = {
    reached,
    close() {
      held = new Promise(resolve => {
        letGo = resolve
      })
    },
    open() {
      held = undefined
      letGo()
    },
    fail(error) {
      failure = error
    },
  }

  const reports: unknown[] = []
  const apiKeys = createApiKeys({ state: async () => state, now, report: error => reports.push(error) })
  const tokens = await createTokens({ jwtSecret: developmentSecret, now })
  const holders = createTokenHolders({ tokens: async () => tokens, state: async () => state, now })
  const authenticator = createAuthenticator({ tokens: holders, apiKeys, now })
  kept.onRevoked(() => authenticator.forget())

  return {
    apiKeys,
    tokens,
    gate,
    reports,
    write: <T>(work: (tables: Tables) => Promise<T>) => kept.write(work),
    read: <T>(work: (tables: Tables) => Promise<T>) => kept.read(work),
    writes: () => writes,
    at: (ms: number) => {
      nowMs = ms
    },
    /** The kind of caller, or the sentence of the refusal. */
    async answerTo(credential: string): Promise<string> {
      try {
        return (await authenticator.identify(`Bearer ${credential}`)).kind
      } catch (error) {
        return (error as Error).message
      }
    },
    /** Puts a user into the state. */
    async user(given: Partial<UserRow> = {}): Promise<UserRow> {
      const user = newUser(new Date(nowMs).toISOString(), given)
      await kept.write(({ users }) => users.insert(user))
      return user
    },
    /** A token of this user in a session of their own. */
    async sessionOf(user: UserRow) {
      const id = crypto.randomUUID()
      const created_at = new Date(nowMs).toISOString()
      await kept.write(({ sessions }) =>
        sessions.insert({ id, user_id: user.id, amr: [], created_at, refreshed_at: null }),
      )
      const exp = Math.floor(nowMs / 1000) + 3600
      return { id, token: await tokens.sign({ sub: user.id, role: 'authenticated', session_id: id, exp }) }
    },
  }
}

export const inMs = (ms: number) => new Date(noon + ms).toISOString()
