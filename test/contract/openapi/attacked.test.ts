import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyCharacter } from '../../characters.js'
import { declaredDocument } from '../../http/declared.js'
import { runs } from '../../runs.js'
import { platformWith, type Scene } from '../../scene.js'
import { checking, type Document, documentOf, judging, operationsOf, type Placed } from './document.js'
import { fitting, mutated } from './made-by-schema.js'

interface Sent {
  readonly placed: Placed
  readonly path: string
  readonly body: string | undefined
  /** Whether the document allows the body. */
  readonly fits: boolean
}

/** Valid and invalid requests for one operation. */
function requests(document: Document, placed: Placed): fc.Arbitrary<Sent> {
  const make = fitting(document)
  const { parameters = [], requestBody } = placed.operation
  const query = parameters.filter(parameter => parameter.in === 'query' && parameter.name !== 'follow')
  const queries = fc.record(
    Object.fromEntries(query.map(({ name, schema }) => [name, fc.oneof(make(schema), fc.string())])),
    { requiredKeys: [] },
  )
  const id = fc.oneof(fc.nat().map(String), fc.string({ minLength: 1, unit: anyCharacter }), fc.constant('%'))
  const schema = requestBody?.content?.['application/json']?.schema
  const valid = schema && checking(document)(schema)
  const fit = schema ? make(schema) : fc.constant(undefined)
  const bodies = schema ? fc.oneof(fit, fit, mutated(fit), fc.jsonValue()) : fc.constant(undefined)
  return fc.record({ id, query: queries, body: bodies }).map(({ id, query, body }) => {
    const asked = new URLSearchParams(
      Object.entries(query).map(([name, value]) => [name, String(value)] as [string, string]),
    )
    const path = placed.path.replace(/\{\w+\}/, () => (id === '%' ? id : encodeURIComponent(wellFormed(id))))
    const text = body === undefined ? undefined : JSON.stringify(body)
    return {
      placed,
      path: `${path}?${asked}`,
      body: text,
      fits: text === undefined || valid?.(JSON.parse(text)) === true,
    }
  })
}

const wellFormed = (text: string) => text.replace(/\p{Surrogate}/gu, 'x').replace(/^\.+$/, 'dots')

const send = ({ url, apiKey }: Scene, { placed, path, body }: Sent) =>
  fetch(url + path, {
    method: placed.method.toUpperCase(),
    headers: {
      'content-type': 'application/json',
      ...(!path.startsWith('/__standin') && { authorization: `Bearer ${apiKey}` }),
    },
    ...(body !== undefined && { body }),
  })

/** Removes what requests to one operation leave behind, before the next operation. */
async function tidy({ url }: Scene) {
  const put = (path: string, body: object) =>
    fetch(`${url}/__standin${path}`, {
      method: 'PUT',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
  await fetch(`${url}/__standin/reset`, { method: 'POST' })
  await put('/mode', { mode: 'emulate' })
  await put('/settings', { clock: { reset: true } })
}

const parts = ['platform', 'dashboard', 'control'] as const

test.each(parts)(
  'any request to an operation gets an answer as documented or declared: %s',
  async part => {
    const platform = await platformWith()
    const document = part === 'platform' ? await documentOf(platform) : await declaredDocument(part)
    const judge = judging(document)
    const operations = operationsOf(document, 'platform')
    for (const placed of operations) {
      await fc.assert(
        fc.asyncProperty(requests(document, placed), async sent => {
          const response = await send(platform, sent)
          expect([response.status >= 500, sent.path, sent.body]).toEqual([false, sent.path, sent.body])
          expect([await judge(placed, response), sent.path, sent.body]).toEqual([undefined, sent.path, sent.body])
        }),
        { numRuns: part === 'platform' ? runs(60) : runs(15, 4) },
      )
      if (placed.method !== 'get') await tidy(platform)
    }
  },
  120_000,
)

/** What the schema does not say: what depends on another field, on limits, or on words in a prompt. */
const unsaid =
  /tool_choice|function_call|top_logprobs|\.(content|text|function|custom|json_schema) (is missing|must be)|cannot be answered|standin:/

test('an invalid chat request is refused, and a valid one only for reasons that the schema does not express', async () => {
  const platform = await platformWith({ models: 'any' })
  const document = await documentOf(platform)
  const placed = operationsOf(document).find(({ operation }) => operation.operationId === 'createChatCompletion')
  let [taken, refused] = [0, 0]
  await fc.assert(
    fc.asyncProperty(requests(document, placed as Placed), async sent => {
      const response = await send(platform, sent)
      const text = await response.text()
      if (!sent.fits) expect([response.status, sent.body]).toEqual([400, sent.body])
      else if (response.status !== 200) expect(text).toMatch(unsaid)
      if (response.ok) taken++
      else refused++
    }),
    // About one in twelve is taken.
    { numRuns: Math.max(150, runs(200)) },
  )
  expect(taken).toBeGreaterThan(0)
  expect(refused).toBeGreaterThan(0)
})
