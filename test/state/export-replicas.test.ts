/** A state that is imported on one replica holds on all of them. */
import { describe, expect, test, vi } from 'vitest'
import { sentences, signIn } from '../auth/people.js'
import { lasting } from './kinds.js'
import { answersTo, knownToAll, replicasIn } from './replicas.js'

const WITHIN = { timeout: 1000, interval: 5 }

describe.each(lasting)('in $kind', kind => {
  test('tokens and keys of users who are gone die on all replicas within a second, and those who are back sign in on all', async () => {
    const replicas = await replicasIn(kind)
    const [first, ...others] = replicas.all
    if (!first) throw new Error('No replica has started.')
    const state = `${first.url}/__standin/state`
    const before = await (await fetch(state)).text()
    const ada = await knownToAll(replicas, first)
    const withAda = await (await fetch(state)).text()
    const put = async (body: string) => {
      const response = await fetch(state, { method: 'PUT', headers: { 'content-type': 'application/json' }, body })
      expect([response.status, await response.text()]).toEqual([204, ''])
    }

    await put(before)
    const gone = [sentences.ended, sentences.ended, sentences.unknownKey]
    expect(await answersTo(first, ada)).toEqual(gone)
    for (const other of others) await vi.waitFor(async () => expect(await answersTo(other, ada)).toEqual(gone), WITHIN)

    await put(withAda)
    for (const replica of replicas.all) {
      expect(await answersTo(replica, ada)).toEqual(['open', 'open', 'open'])
      expect((await signIn(replica, ada.phone)).id).toBe(ada.phone.id)
    }
  })
})
