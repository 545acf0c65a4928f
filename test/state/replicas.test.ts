import { describe, expect, test, vi } from 'vitest'
import { digestOf } from '../../src/core/secrets.js'
import { once } from '../../src/core/work.js'
import type { RunningPlatform } from '../command.js'
import { adminOf, askAuth, claimsOf, type Place, sentences, signIn } from '../keys/people.js'
import { chanceFrom, seedOfRun } from './chance.js'
import { type Crowd, createCrowd } from './crowd.js'
import { type Kind, lasting, opened, server } from './kinds.js'
import { linkTo } from './link.js'
import {
  type Ada,
  answersTo,
  askForKey,
  credentialsAnswered,
  joinedBy,
  knownToAll,
  processesIn,
  type Replicas,
  replicasForAll,
  trustedAfterMs,
} from './replicas.js'

const SECOND = 1000

interface Ending {
  readonly how: string
  end(ada: Ada): Promise<unknown>
  /** How her phone, her laptop and her key are answered afterwards. */
  readonly answers: readonly string[]
}

const { ended, barred, revokedKey, unknownKey, ownerless } = sentences

const endings: readonly Ending[] = [
  {
    how: 'signs out on her phone',
    end: ({ phone }) => phone.client.auth.signOut({ scope: 'local' }),
    answers: [ended, 'open', 'open'],
  },
  {
    how: 'revokes her key',
    end: ({ home, phone, key }) => askForKey(home, phone.token, 'DELETE', `/${key.id}`),
    answers: ['open', 'open', revokedKey],
  },
  {
    how: 'changes her password on her phone',
    end: ({ phone }) => phone.client.auth.updateUser({ password: 'battery-staple' }),
    answers: ['open', ended, 'open'],
  },
  {
    how: 'is banned',
    end: ({ home, phone }) => adminOf(home).updateUserById(phone.id, { ban_duration: '1h' }),
    answers: [barred, barred, ownerless],
  },
  {
    how: 'is deleted',
    end: ({ home, phone }) => adminOf(home).deleteUser(phone.id),
    answers: [ended, ended, unknownKey],
  },
]

/** A file only reports that it has changed, so one ending for each kind of row is enough there. */
const endingsOn = ({ kind }: Kind) =>
  kind === 'a file' ? endings.filter(({ how }) => oneForEachRow.includes(how)) : endings

const oneForEachRow: readonly string[] = ['signs out on her phone', 'revokes her key', 'is banned']

const revokesHerKey = ({ home, phone, key }: Ada) => askForKey(home, phone.token, 'DELETE', `/${key.id}`)

/** How long the other replicas trust a key that is revoked on `home`. */
async function keyTrustedMs(
  replicas: Pick<Replicas, 'all'>,
  home: Place,
  revoke: (ada: Ada) => Promise<unknown> = revokesHerKey,
) {
  const ada = await knownToAll(replicas, home)
  const others = replicas.all.filter(replica => replica !== home)
  return trustedAfterMs(others, [ada.key.key], () => revoke(ada))
}

const refresh = (replica: Place, refresh_token: string) =>
  askAuth(replica, '/token?grant_type=refresh_token', { method: 'POST', body: JSON.stringify({ refresh_token }) })

/** The next refresh token, or the code of the refusal. */
async function nextAt(replica: Place, token: string): Promise<string> {
  const { refresh_token, error_code } = (await (await refresh(replica, token)).json()) as Record<string, string>
  return refresh_token ?? error_code ?? ''
}

/** Sends the same request to all replicas at the same moment. */
const askAll = <T>({ all }: Replicas, times: number, ask: (replica: Place, i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: times * all.length }, (_, i) => ask(all[i % all.length] as Place, i)))

describe.each(lasting)('on $kind', kind => {
  const replicasOfAll = replicasForAll(kind)
  /** A user whom no test changes. */
  const bobOfAll = once(async () => {
    const replicas = await replicasOfAll()
    return knownToAll(replicas, replicas.all[0] as Place)
  })

  test.each(endingsOn(kind))(
    'when she $how on one replica, it takes effect there at once, and within a second on those that had cached her credentials',
    async ({ how, end, answers }) => {
      const replicas = await replicasOfAll()
      const home = replicas.all[endings.findIndex(ending => ending.how === how) % replicas.all.length] as Place
      const [ada, bob] = [await knownToAll(replicas, home), await bobOfAll()]
      const dying = credentialsAnswered(ada, answers, answer => answer !== 'open')
      const trustedMs = await trustedAfterMs(replicas.all, dying, () => end(ada))
      const elsewhereMs = trustedMs.filter((_, i) => replicas.all[i] !== home)
      expect(trustedMs[replicas.all.indexOf(home)]).toBe(0)
      expect(Math.max(...elsewhereMs)).toBeLessThan(SECOND)
      for (const replica of replicas.all) {
        expect(await answersTo(replica, ada)).toEqual(answers)
        expect(await answersTo(replica, bob)).toEqual(['open', 'open', 'open'])
      }
      expect(replicas.complaints()).toBe('')
    },
  )

  test('the same request to all replicas at once takes effect once: a sign-up, a refresh', async () => {
    const replicas = await replicasOfAll()
    const email = (i: number) => (i % 2 ? 'everybody@example.com' : 'EVERYBODY@example.com')
    const statuses = await askAll(replicas, 8, async (replica, i) => {
      const body = JSON.stringify({ email: email(i), password: `secret ${i}` })
      return (await askAuth(replica, '/signup', { method: 'POST', body })).status
    })
    expect(statuses.toSorted()).toEqual([200, ...Array(statuses.length - 1).fill(422)])
    const ada = { email: 'everybody@example.com', password: `secret ${statuses.indexOf(200)}` }
    for (const replica of replicas.all) {
      const { data } = await adminOf(replica).listUsers()
      expect(data.users.filter(({ email }) => email === ada.email)).toHaveLength(1)
    }

    const { token: bearer, refreshToken } = await signIn(replicas.all[0] as Place, ada)
    const state = await opened(replicas.place)
    const { session_id } = claimsOf(bearer) as { session_id: string }
    let token = refreshToken
    for (let generation = 0; generation < 3; generation++) {
      const next = new Set(await askAll(replicas, 10, replica => nextAt(replica, token)))
      const active = await state.read(({ refresh_tokens }) => refresh_tokens.find({ session_id, revoked: false }))
      const [following = ''] = next
      expect(active).toEqual([expect.objectContaining({ token: digestOf(following), parent: digestOf(token) })])
      expect(next.size).toBe(1)
      token = following
    }
    expect(replicas.complaints()).toBe('')
  })

  test('deleting a user on one replica leaves no keys behind that are created on another at the same moment', async () => {
    const replicas = await replicasOfAll()
    const [here, there] = replicas.all as [Place, Place]
    const state = await opened(replicas.place)
    for (let round = 0; round < 3; round++) {
      const { phone } = await knownToAll(replicas, here)
      const makeKey = () => askForKey(there, phone.token, 'POST', '', { name: 'late' }).catch(() => undefined)
      await Promise.all([adminOf(here).deleteUser(phone.id), ...Array.from({ length: 5 }, makeKey)])
      expect(await state.read(({ api_keys }) => api_keys.count({ user_id: phone.id }))).toBe(0)
    }
  })
})

const leaving = [
  ['SIGKILL', { code: null, signal: 'SIGKILL' }],
  ['SIGTERM', { code: 0, signal: null }],
] as const

describe.skipIf(!server)('on PostgreSQL', () => {
  const kind = lasting.find(({ kind }) => kind === 'PostgreSQL') as Kind
  const replicasOfAll = replicasForAll(kind)

  test('when one busy replica is killed and another is stopped, the last keeps working and knows all that they acknowledged', async () => {
    const replicas = await processesIn(kind, 3)
    const survivor = replicas.running[2] as RunningPlatform
    const chance = chanceFrom(seedOfRun)
    const crowds = [0, 1, 2].map(i => createCrowd(`crowd${i}`, 2, chance.branch()))
    const theirs = crowds[2] as Crowd
    const working = crowds.map((crowd, i) => crowd.run((replicas.running[i] as RunningPlatform).ready))
    const unlessRefused = <T>(event: Promise<T>) => Promise.race([event, Promise.all(working)])
    await unlessRefused(Promise.all(crowds.map(crowd => crowd.acknowledged(8))))
    for (const [i, [signal, end]] of leaving.entries()) {
      const doomed = replicas.running[i] as RunningPlatform
      doomed.send(signal)
      await working[i]
      expect(await doomed.ended).toMatchObject({ ...end, stderr: '' })
      await unlessRefused(theirs.acknowledged(5))
    }
    const joined = joinedBy(replicas)
    await unlessRefused(theirs.acknowledged(5))
    theirs.stop()
    const late = await joined
    await working[2]
    expect(theirs.counts.inFlight).toBe(0)

    const others = [survivor.ready, late.ready]
    const state = await opened(replicas.place)
    for (const crowd of crowds) expect(await crowd.discrepancies(late.ready, state, 'all')).toEqual([])
    expect(Math.max(...(await keyTrustedMs({ all: others }, survivor.ready)))).toBeLessThan(SECOND)
    expect(replicas.complaints() + late.stderr.text).toBe('')
  })

  test('a key that is first used at the moment it is revoked is not cached', async () => {
    const replicas = await replicasOfAll()
    const [home] = replicas.all as [Place]
    const { phone } = await knownToAll(replicas, home)
    for (let round = 0; round < 8; round++) {
      const { id, key } = await askForKey(home, phone.token, 'POST', '', { name: 'new' })
      const trustedMs = await trustedAfterMs(replicas.all, [key], () =>
        askForKey(home, phone.token, 'DELETE', `/${id}`),
      )
      expect(Math.max(...trustedMs)).toBeLessThan(SECOND)
    }
  })

  test('when PostgreSQL is back, a session that ended just before stays ended, and the others work as before', async () => {
    const replicas = await replicasOfAll()
    const [home] = replicas.all as [Place]
    const [ada, bob] = [await knownToAll(replicas, home), await knownToAll(replicas, home)]
    const trustedMs = await trustedAfterMs(replicas.all, [ada.phone.token], async () => {
      await ada.phone.client.auth.signOut({ scope: 'local' })
      await server?.stop()
    })
    await server?.start()
    expect(Math.max(...trustedMs)).toBeLessThan(SECOND)
    for (const replica of replicas.all) {
      await vi.waitFor(async () => expect(await answersTo(replica, bob)).toEqual(['open', 'open', 'open']), 10 * SECOND)
      expect(await answersTo(replica, ada)).toEqual([ended, 'open', 'open'])
      expect((await refresh(replica, bob.phone.refreshToken)).status).toBe(200)
    }
    for (const home of replicas.all) {
      const trustedMs = await keyTrustedMs(replicas, home)
      expect(Math.max(...trustedMs)).toBeLessThan(SECOND)
    }
  })

  test('a replica whose connection to PostgreSQL has silently gone dead trusts no revoked key for longer than a second', async () => {
    const replicas = await replicasOfAll()
    const [home] = replicas.all as [Place]
    const link = await linkTo(replicas.place.where)
    const far = await joinedBy(replicas, { where: link.url })
    const ada = await knownToAll({ all: [home, far.ready] }, home)
    const trustedMs = await trustedAfterMs([far.ready], [ada.key.key], async () => {
      link.goDead()
      await revokesHerKey(ada)
    })
    expect(Math.max(...trustedMs)).toBeLessThan(SECOND)
  })

  test.each([
    ['5 s ahead', 5000],
    ['50 ms ahead', 50],
  ])('a key revoked on a replica whose clock is %s stops working on the others within a second', async (_how, ms) => {
    const replicas = await replicasOfAll()
    const { ready: home } = await joinedBy(replicas, { env: clockAhead(ms) })
    const trustedMs = await keyTrustedMs({ all: [home, ...replicas.all] }, home)
    expect(Math.max(...trustedMs)).toBeLessThan(SECOND)
  })
})

/** The environment of a process whose clock is this far ahead. */
function clockAhead(ms: number) {
  const program = `const { now } = Date; Date.now = () => now() + ${ms}`
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` }
}
