import { expect, test, vi } from 'vitest'
import { platformWith, type Scene } from '../scene.js'
import { userToken } from '../signing.js'
import { adminOf, answerOf, claimsOf, type Person, sentences, signIn, signUp, userOf } from './people.js'

const endpoints = ['/v1/models', '/api/v1'] as const

/** What both kinds of endpoint answer to a token. */
const answersTo = (scene: Scene, token: string) => Promise.all(endpoints.map(path => answerOf(scene, token, path)))

const open = ['open', 'open']
const refused = (sentence: string) => [sentence, sentence]

/** A platform with Ada, who is signed in twice, and Bob; all of their tokens have been used and are cached. */
async function scene() {
  const platform = await platformWith()
  const ada = await signUp(platform)
  const [elsewhere, bob] = [await signIn(platform, ada), await signUp(platform, 'bob@example.com')]
  for (const { token } of [ada, elsewhere, bob]) {
    expect(await answersTo(platform, token)).toEqual(open)
    expect(await answersTo(platform, token)).toEqual(open)
  }
  return { platform, ada, elsewhere, bob }
}

interface Ending {
  readonly how: string
  end(platform: Scene, people: { ada: Person; elsewhere: Person }): Promise<{ readonly error: unknown }>
  readonly hers: readonly string[]
  readonly elsewhere: readonly string[]
}

const ended = refused(sentences.ended)
const barred = refused(sentences.barred)

const endings: readonly Ending[] = [
  { how: 'signs out', end: (_, { ada }) => ada.client.auth.signOut(), hers: ended, elsewhere: ended },
  {
    how: 'signs out of this session',
    end: (_, { ada }) => ada.client.auth.signOut({ scope: 'local' }),
    hers: ended,
    elsewhere: open,
  },
  {
    how: 'signs out of all other sessions',
    end: (_, { ada }) => ada.client.auth.signOut({ scope: 'others' }),
    hers: open,
    elsewhere: ended,
  },
  {
    how: 'is signed out everywhere by an admin',
    end: (platform, { ada }) => adminOf(platform).signOut(ada.token, 'global'),
    hers: ended,
    elsewhere: ended,
  },
  {
    how: 'is deleted',
    end: (platform, { ada }) => adminOf(platform).deleteUser(ada.id),
    hers: ended,
    elsewhere: ended,
  },
  {
    how: 'is soft-deleted',
    end: (platform, { ada }) => adminOf(platform).deleteUser(ada.id, true),
    hers: ended,
    elsewhere: ended,
  },
  {
    how: 'is banned',
    end: (platform, { ada }) => adminOf(platform).updateUserById(ada.id, { ban_duration: '1h' }),
    hers: barred,
    elsewhere: barred,
  },
  {
    how: 'gets a new password from an admin',
    end: (platform, { ada }) => adminOf(platform).updateUserById(ada.id, { password: 'another-password' }),
    hers: ended,
    elsewhere: ended,
  },
  {
    how: 'changes her password',
    end: (_, { ada }) => ada.client.auth.updateUser({ password: 'another-password' }),
    hers: open,
    elsewhere: ended,
  },
]

test.each(endings)("when Ada $how, it takes effect on the next request, and Bob's token stays valid", async ending => {
  const { platform, ada, elsewhere, bob } = await scene()
  expect((await ending.end(platform, { ada, elsewhere })).error).toBeNull()
  expect(await answersTo(platform, ada.token)).toEqual(ending.hers)
  expect(await answersTo(platform, elsewhere.token)).toEqual(ending.elsewhere)
  expect(await answersTo(platform, bob.token)).toEqual(open)
})

test("a banned user's token works again when the ban is lifted", async () => {
  const { platform, ada } = await scene()
  await adminOf(platform).updateUserById(ada.id, { ban_duration: '1h' })
  expect(await answersTo(platform, ada.token)).toEqual(barred)
  await adminOf(platform).updateUserById(ada.id, { ban_duration: 'none' })
  expect(await answersTo(platform, ada.token)).toEqual(open)
})

test('a refresh returns a new token, and the previous one stays valid until the session ends', async () => {
  const { platform, ada } = await scene()
  const { data } = await ada.client.auth.refreshSession()
  const next = data.session?.access_token ?? ''
  expect(claimsOf(next).session_id).toBe(claimsOf(ada.token).session_id)
  expect([await answersTo(platform, ada.token), await answersTo(platform, next)]).toEqual([open, open])
  await ada.client.auth.signOut()
  expect([await answersTo(platform, ada.token), await answersTo(platform, next)]).toEqual([ended, ended])
})

test('requests in flight while a session ends do not keep it alive', async () => {
  const { platform, ada, bob } = await scene()
  let over = false
  let asked = 0
  const afterwards: string[] = []
  const caller = async () => {
    while (!over) {
      await answerOf(platform, ada.token)
      asked++
    }
    afterwards.push(await answerOf(platform, ada.token))
  }
  const callers = Array.from({ length: 8 }, caller)
  await vi.waitFor(() => expect(asked).toBeGreaterThan(50), { timeout: 20_000 })
  await ada.client.auth.signOut()
  over = true
  await Promise.all(callers)
  expect(new Set(afterwards)).toEqual(new Set([sentences.ended]))
  expect(await answersTo(platform, bob.token)).toEqual(open)
})

test("a token from another platform's session is refused, although both platforms sign with the same key", async () => {
  const [here, there] = [await platformWith(), await platformWith()]
  const ada = await signUp(there)
  expect(await answersTo(there, ada.token)).toEqual(open)
  expect(await answersTo(here, ada.token)).toEqual(ended)
  expect(await userOf(here, ada.token)).toBe('403 user_not_found')
})

test('a token without a session, as tests create them, works for existing and for unknown users', async () => {
  const { platform, ada } = await scene()
  expect(await answersTo(platform, await userToken({ sub: ada.id }))).toEqual(open)
  expect(await answersTo(platform, await userToken())).toEqual(open)
})
