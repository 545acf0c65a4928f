/** Compares a collection with a plain list of rows after any sequence of requests. */
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { runs } from '../runs.js'
import { platformWith, type Scene } from '../scene.js'

const path = '/builder/projects'

interface Row {
  readonly id: number
  readonly [field: string]: unknown
}

interface Model {
  readonly rows: readonly Row[]
  readonly nextId: number
}

interface Command {
  readonly method: 'POST' | 'GET' | 'PATCH' | 'PUT' | 'DELETE'
  readonly id?: number
  readonly body?: Readonly<Record<string, unknown>>
}

const names = fc.constantFrom('name', 'stars', '__proto__', 'constructor', 'a b', '')
// `fc.dictionary` would set the prototype.
const body = fc
  .array(fc.tuple(names, fc.jsonValue({ maxDepth: 2 })), { maxLength: 3 })
  .map(entries => Object.fromEntries(JSON.parse(JSON.stringify(entries)) as [string, unknown][]))
const id = fc.integer({ min: 1, max: 6 })

const command: fc.Arbitrary<Command> = fc.oneof(
  body.map(body => ({ method: 'POST' as const, body })),
  fc.tuple(id, body).map(([id, body]) => ({ method: 'POST' as const, body: { ...body, id } })),
  id.map(id => ({ method: 'GET' as const, id })),
  fc
    .tuple(fc.constantFrom('PATCH' as const, 'PUT' as const), id, body)
    .map(([method, id, body]) => ({ method, id, body })),
  id.map(id => ({ method: 'DELETE' as const, id })),
)

interface Answer {
  readonly status: number
  readonly row?: Row
}

/** Applies the request to a plain list of rows. */
function applied({ rows, nextId }: Model, { method, id, body = {} }: Command): { model: Model; answer: Answer } {
  const model = { rows, nextId }
  if (method === 'POST') {
    const own = body.id as number | undefined
    if (rows.some(row => row.id === own)) return { model, answer: { status: 409 } }
    const row = own === undefined ? { id: nextId, ...body } : (body as Row)
    const next = { rows: [...rows, row], nextId: Math.max(nextId, row.id + 1) }
    return { model: next, answer: { status: 201, row } }
  }
  const before = rows.find(row => row.id === id)
  if (!before) return { model, answer: { status: 404 } }
  if (method === 'GET') return { model, answer: { status: 200, row: before } }
  if (method === 'DELETE')
    return { model: { rows: rows.filter(row => row !== before), nextId }, answer: { status: 204 } }
  const row: Row = method === 'PATCH' ? { ...before, ...body } : { id: before.id, ...body }
  return { model: { rows: rows.map(one => (one === before ? row : one)), nextId }, answer: { status: 200, row } }
}

async function answerOf(platform: Scene, { method, id, body }: Command, headers: Record<string, string>) {
  const response = await platform.ask(id === undefined ? path : `${path}/${id}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, ...(response.status < 204 && { row: JSON.parse(text) as Row }) }
}

test('any sequence of requests has the same effect as on a plain list of rows', async () => {
  const seeds: readonly Row[] = [{ id: 2, name: 'Atlas' }]
  const platform = await platformWith({ resources: { [path]: { data: seeds as Row[] } } })
  onTestFinished(() => platform.stop())
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 12 }), async commands => {
      // Each scope starts with the initial rows.
      const headers = { 'x-standin-scope': `run ${run++}` }
      let model: Model = { rows: seeds, nextId: 3 }
      for (const command of commands) {
        const { model: next, answer } = applied(model, command)
        expect(JSON.stringify(await answerOf(platform, command, headers))).toBe(JSON.stringify(answer))
        model = next
      }
      const listed = await platform.ask(path, { headers })
      expect(await listed.text()).toBe(JSON.stringify(model.rows))
      expect(listed.headers.get('x-total-count')).toBe(String(model.rows.length))
    }),
    { numRuns: runs(200) },
  )
})

test('concurrent inserts lose no row and reuse no id', async () => {
  const platform = await platformWith({ resources: { [path]: {} } })
  const post = () => platform.ask(path, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
  await Promise.all(Array.from({ length: 20 }, post))
  const rows = await platform.resource(path).rows()
  expect(new Set(rows.map(({ id }) => id)).size).toBe(20)
})
