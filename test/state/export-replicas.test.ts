/** A state that is imported on one replica takes effect on all of them. */
import { describe, expect, test } from 'vitest'
import { sentences, signIn } from '../keys/people.js'
import { lasting } from './kinds.js'
import { answersTo, credentialsOf, knownToAll, replicasIn, trustedAfterMs } from './replicas.js'

describe.each(lasting)('in $kind', kind => {
  test('credentials of removed users stop working on all replicas within a second, and restored users sign in on all', async () => {
    const replicas = await replicasIn(kind)
    const [first] = replicas.all
    if (!first) throw new Error('No replica has started.')
    const state = `${first.url}/__standin/state`
    const before = await (await fetch(state)).text()
    const ada = await knownToAll(replicas, first)
    const withAda = await (await fetch(state)).text()
    const put = async (body: string) => {
      const response = await fetch(state, { method: 'PUT', headers: { 'content-type': 'application/json' }, body })
      expect([response.status, await response.text()]).toEqual([204, ''])
    }

    const trustedMs = await trustedAfterMs(replicas.all, credentialsOf(ada), () => put(before))
    expect(Math.max(...trustedMs)).toBeLessThan(1000)
    const gone = [sentences.ended, sentences.ended, sentences.unknownKey]
    for (const replica of replicas.all) expect(await answersTo(replica, ada)).toEqual(gone)

    await put(withAda)
    for (const replica of replicas.all) {
      expect(await answersTo(replica, ada)).toEqual(['open', 'open', 'open'])
      expect((await signIn(replica, ada.phone)).id).toBe(ada.phone.id)
    }
  })
})
