/** A target with one thing wrong breaks the clause that is meant for it, and no other. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clauses, createTarget, judgeAll } from '../../src/contract/index.js'
import { developmentUser } from '../../src/core/secrets.js'
import { type Platform, startPlatform } from '../../src/index.js'
import { type Change, sendingTo } from './breaking.js'
import { broken } from './broken.js'

let base: Platform
let sendWith: ReturnType<typeof sendingTo>
beforeAll(async () => {
  base = await startPlatform()
  sendWith = sendingTo(base)
})
afterAll(() => base.stop())

/** The ids of the clauses that such a target breaks, and of those that had to be skipped. */
async function judged(change: Change, wanted = clauses) {
  const { url, apiKey, anonKey } = base
  const target = createTarget({ url, apiKey, anonKey, ...developmentUser, send: sendWith(change) })
  const findings = await judgeAll({ target, table: clauses, wanted })
  const of = (kind: string) => findings.filter(({ verdict }) => verdict.kind === kind).map(({ clause }) => clause.id)
  const whys = new Map(
    findings.flatMap(({ clause, verdict }) => (verdict.kind === 'skipped' ? [[clause.id, verdict.why]] : [])),
  )
  const came = findings.flatMap(({ verdict }) => (verdict.kind === 'broken' ? [verdict.came] : [])).join('\n')
  return { broken: of('broken'), came, skipped: of('skipped'), whys }
}

/** The clauses that need this one, directly or indirectly. */
function dependents(id: string): readonly string[] {
  const direct = clauses.filter(({ needs = [] }) => needs.includes(id)).map(clause => clause.id)
  return [...direct, ...direct.flatMap(dependents)]
}

/** A clause and the others of its section, which such a target must not break. */
const besides = (id: string) => {
  const section = clauses.find(clause => clause.id === id)?.section
  return clauses.filter(clause => clause.section === section)
}

test('every clause has a target that breaks it', () => {
  expect(Object.keys(broken).sort()).toEqual(clauses.map(({ id }) => id).sort())
})

test('with nothing changed, nothing is broken and nothing is skipped', async () => {
  expect(await judged(() => undefined)).toMatchObject({ broken: [], skipped: [] })
})

test("a stream may begin with Azure's event about the prompt, as in the check of live answers", async () => {
  const about = { choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: [{ prompt_index: 0 }] }
  const azures: Change = ({ body }, answer) =>
    body.stream === true && answer.status === 200
      ? { ...answer, text: `data: ${JSON.stringify(about)}\n\n${answer.text}` }
      : undefined
  expect(await judged(azures)).toMatchObject({ broken: [], skipped: [] })
})

describe.each(Object.entries(broken))('%s', (id, changes) => {
  test.each(changes.map((change, i) => [i + 1, change] as const))(
    'is the only clause that its target %i breaks',
    async (_, change) => {
      const { broken, came, skipped, whys } = await judged(change, besides(id))
      expect(broken, came).toEqual([id])
      // Without a listing no model is known, and without a model no completion can be requested.
      if (!['EP-4', 'MODELS-1', 'MODELS-2', 'MODELS-D1'].includes(id))
        expect(skipped.filter(skip => !dependents(id).includes(skip) && !whys.get(skip)?.includes(id))).toEqual([])
    },
  )
})
