/** Several platforms on one state, and how long each of them trusts what was revoked on another. */
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { openPlatform } from '../../src/platform.js'
import { forAll, type RunningPlatform, startReady, type Until } from '../command.js'
import { answerOf, type Person, type Place as Platform, signIn, signUp } from '../keys/people.js'
import type { Kind, Place } from './kinds.js'
import { ownTimeMs } from './own-time.js'

export interface Replicas {
  /** What `openState` takes. */
  readonly place: Place
  /** How to reach them. */
  readonly all: readonly Platform[]
  /** What they have warned about or reported so far. */
  complaints(): string
}

/** Replicas of the real command, which can be killed. */
interface Processes extends Replicas {
  readonly running: readonly RunningPlatform[]
}

/** Starts this many processes at the same moment on a new state. In PostgreSQL their connections are called replica0, replica1, … */
export async function processesIn(kind: Kind, count: number): Promise<Processes> {
  const place = await kind.freshPlace()
  const running = await Promise.all(
    Array.from({ length: count }, (_, i) => startReady({ flags: ['--state', whereFor(place, i)] })),
  )
  const complaints = () => running.map(({ stderr }) => stderr.text).join('')
  return { place, running, all: running.map(({ ready }) => ready), complaints }
}

/** The same within this process, which is much cheaper. They still share nothing but the state. */
async function replicasIn(kind: Kind, until: Until = onTestFinished): Promise<Replicas> {
  const place = await kind.freshPlace(until)
  let complaints = ''
  const complain = (what: unknown) => {
    complaints += `${what}\n`
  }
  const all = await Promise.all(
    Array.from({ length: countFor(kind) }, async (_, i) => {
      const values = { port: 0, state: whereFor(place, i) }
      const flags = Object.entries(values).map(([name, value]) => ({ path: [name], value, origin: 'test' }))
      const platform = await openPlatform({
        cwd: place.dir,
        file: false,
        env: {},
        flags,
        warn: complain,
        report: complain,
      })
      until(() => platform.stop())
      return platform
    }),
  )
  return { place, all, complaints: () => complaints }
}

/** Two replicas on a file, three on a database. */
const countFor = ({ kind }: Kind) => (kind === 'a file' ? 2 : 3)

/** Replicas for all tests of a `describe`. */
export const replicasForAll = (kind: Kind): (() => Promise<Replicas>) => forAll(until => replicasIn(kind, until))

/** Starts another process on the same state, which it may reach by another URL. */
export const joinedBy = (
  { all, place }: Replicas,
  { where = place.where, env = {} }: { readonly where?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<RunningPlatform> => startReady({ flags: ['--state', whereFor({ ...place, where }, all.length)], env })

function whereFor({ where, dir }: Place, i: number): string {
  return where.startsWith('file:') ? where.replace('file:', `file:${dir}/`) : `${where}?application_name=replica${i}`
}

interface NewKey {
  readonly id: string
  readonly key: string
}

/** Calls the dashboard's API for keys. Rejects when it refuses. */
export async function askForKey({ url }: Pick<Platform, 'url'>, token: string, method: string, path = '', body = {}) {
  const response = await fetch(`${url}/dashboard/api/keys${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(method === 'POST' && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as NewKey
}

/** A user with two devices and an API key. */
export interface Ada {
  readonly home: Platform
  readonly phone: Person
  readonly laptop: Person
  readonly key: NewKey
}

let people = 0

/** A new user on this replica, whose credentials all replicas have seen twice and cached. */
export async function knownToAll({ all }: Pick<Replicas, 'all'>, home: Platform): Promise<Ada> {
  const phone = await signUp(home, `ada${people++}@example.com`)
  const laptop = await signIn(home, phone)
  const ada = { home, phone, laptop, key: await askForKey(home, phone.token, 'POST', '', { name: 'one' }) }
  for (const _ of ['looked up', 'cached']) {
    const answers = await Promise.all(all.map(replica => answersTo(replica, ada)))
    if (answers.flat().some(answer => answer !== 'open')) throw new Error(`Not open everywhere: ${answers.join()}`)
  }
  return ada
}

/** All of her credentials. */
export const credentialsOf = ({ phone, laptop, key }: Ada) => [phone.token, laptop.token, key.key]

/** How a replica answers her phone, her laptop and her key. */
export const answersTo = (replica: Platform, ada: Ada): Promise<readonly string[]> =>
  Promise.all(credentialsOf(ada).map(credential => answerOf(replica, credential)))

/** After this many refusals in a row, no request in flight can still be accepted. */
const ENOUGH = 5
const PATIENCE_MS = 2000
const EVERY_MS = 10
/** An answer that takes longer does not count as accepted. */
const SLOW_MS = 200

/**
 * Keeps using the credentials on all replicas while they are revoked. Returns for each replica how many milliseconds after `revoke`
 * was acknowledged the last accepted request was sent, counting only time in which this process ran.
 */
export async function trustedAfterMs(
  all: readonly Platform[],
  credentials: readonly string[],
  revoke: () => Promise<unknown>,
): Promise<readonly number[]> {
  let acknowledgedMs = Number.POSITIVE_INFINITY
  async function caller(replica: Platform, credential: string): Promise<number> {
    let lastMs = 0
    for (let refused = 0; refused < ENOUGH && ownTimeMs() < acknowledgedMs + PATIENCE_MS; ) {
      const sentMs = ownTimeMs()
      if (await isOpen(replica, credential)) {
        lastMs = Math.max(lastMs, sentMs - acknowledgedMs)
        refused = 0
      } else refused += 1
      // Without a pause, the callers would starve the replicas.
      await pause(EVERY_MS)
    }
    return lastMs
  }
  const watched = all.map(async replica => {
    return Math.max(...(await Promise.all(credentials.map(one => caller(replica, one)))))
  })
  await revoke()
  acknowledgedMs = ownTimeMs()
  return Promise.all(watched)
}

const isOpen = (replica: Platform, credential: string) =>
  Promise.race([answerOf(replica, credential), pause(SLOW_MS, 'no answer', { ref: false })]).then(
    answer => answer === 'open',
  )

/** Those of her credentials whose expected answer matches. */
export const credentialsAnswered = (ada: Ada, answers: readonly string[], matches: (answer: string) => boolean) =>
  credentialsOf(ada).filter((_, i) => matches(answers[i] ?? ''))
