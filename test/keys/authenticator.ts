/** The parts of a credential check without a server: API keys, tokens, a state in memory and a clock that tests set. */
import { onTestFinished } from 'vitest'
import { developmentSecret } from '../../src/core/secrets.js'
import { createApiKeys } from '../../src/keys/api-keys.js'
import { createAuthenticator } from '../../src/keys/identify.js'
import { openState } from '../../src/state/index.js'
import type { State, Tables, UserRow } from '../../src/state/rows.js'
import { createTokenHolders } from '../../src/supabase/callers.js'
import { createTokens } from '../../src/supabase/tokens.js'
import { newUser } from '../../src/supabase/users.js'

export const noon = Date.parse('2030-01-01T12:00:00Z')

/** Holds reads of the state back until it is opened. */
interface Gate {
  /** After so many reads, they wait before they return what they have read. */
  close(after?: number): void
  /** Resolves when a read is waiting. */
  readonly reached: Promise<void>
  open(): void
  /** From now on reads fail. */
  fail(error: Error): void
}

export async function authenticatorAt(startMs = noon) {
  let nowMs = startMs
  const now = () => nowMs
  const inner = await openState('memory', { dir: '.' })
  onTestFinished(() => inner.close())

  let writes = 0
  let held: Promise<void> | undefined
  let passing = 0
  let failure: Error | undefined
  let release = () => {}
  let arrive = () => {}
  const reached = new Promise<void>(resolve => {
    arrive = resolve
  })
  const state: State = {
    ...inner,
    async read(work) {
      if (failure) throw failure
      const seen = await inner.read(work)
      if (passing-- > 0) return seen
      if (held) arrive()
      await held
      return seen
    },
    write(work) {
      writes++
      return inner.write(work)
    },
  }
  const gate: Gate = {
    reached,
    close(after = 0) {
      passing = after
      held = new Promise(resolve => {
        release = resolve
      })
    },
    open() {
      held = undefined
      release()
    },
    fail(error) {
      failure = error
    },
  }

  const reports: unknown[] = []
  const apiKeys = createApiKeys({ state, now, report: error => reports.push(error) })
  const tokens = await createTokens({ jwtSecret: developmentSecret, now })
  const holders = createTokenHolders({ tokens, state, now })
  const authenticator = createAuthenticator({ tokens: holders, apiKeys, now })
  inner.onRevoked(() => authenticator.forget())

  return {
    apiKeys,
    tokens,
    gate,
    reports,
    write: <T>(work: (tables: Tables) => Promise<T>) => inner.write(work),
    read: <T>(work: (tables: Tables) => Promise<T>) => inner.read(work),
    writes: () => writes,
    at: (ms: number) => {
      nowMs = ms
    },
    /** The kind of caller, or the message of the refusal. */
    async answerTo(credential: string): Promise<string> {
      try {
        return (await authenticator.identify(`Bearer ${credential}`)).kind
      } catch (error) {
        return (error as Error).message
      }
    },
    /** Adds a user to the state. */
    async user(given: Partial<UserRow> = {}): Promise<UserRow> {
      const user = newUser(new Date(nowMs).toISOString(), given)
      await inner.write(({ users }) => users.insert(user))
      return user
    },
    /** A token for this user in a new session. */
    async sessionOf(user: UserRow) {
      const id = crypto.randomUUID()
      const created_at = new Date(nowMs).toISOString()
      await inner.write(({ sessions }) =>
        sessions.insert({ id, user_id: user.id, amr: [], created_at, refreshed_at: null }),
      )
      const exp = Math.floor(nowMs / 1000) + 3600
      return { id, token: await tokens.sign({ sub: user.id, role: 'authenticated', session_id: id, exp }) }
    },
  }
}

export const inMs = (ms: number) => new Date(noon + ms).toISOString()
