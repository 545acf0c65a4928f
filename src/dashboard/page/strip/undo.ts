/** Takes the latest change of a part back, whoever made it. */
import type { SituationJson } from '../../../http/situation.js'
import { control } from '../api.js'

type Changes = SituationJson['changed']
type Undo = { readonly [Part in keyof Changes]?: () => Promise<unknown> }

/** The change, as the server knows it now. */
async function latest<Part extends keyof Changes>(part: Part) {
  const situation = await control('GET /situation')
  return { now: situation[part], from: situation.changed[part]?.from as SituationJson[Part] | undefined }
}

export const undo: Undo = {
  async mode() {
    const { from } = await latest('mode')
    if (from) await control('PUT /mode', { body: from })
  },
  async pace() {
    const { from } = await latest('pace')
    if (from) await control('PUT /pace', { body: from })
  },
  /** Removes the faults that were added, and adds those that were removed. */
  async faults() {
    const { now, from = [] } = await latest('faults')
    const without = (some: typeof now, others: typeof now) =>
      some.filter(one => others.every(({ id }) => id !== one.id))
    for (const { id } of without(now, from)) await control('DELETE /faults/{id}', { id })
    for (const { id: _id, ...fault } of without(from, now)) await control('POST /faults', { body: fault })
  },
  async clock() {
    const { from = { offsetMs: 0, frozenAt: null } } = await latest('clock')
    await control('PUT /clock', { body: { reset: true } })
    const { offsetMs, frozenAt } = from
    if (frozenAt !== null) await control('PUT /clock', { body: { now: frozenAt, frozen: true } })
    else if (offsetMs !== 0) await control('PUT /clock', { body: { advanceMs: Math.round(offsetMs) } })
  },
}
