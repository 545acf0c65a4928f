import { expect, test } from 'vitest'
import { json, platformFor } from './builder.js'

test('a request that does not fit is refused with the fields that are wrong', async () => {
  const platform = await platformFor()
  const refused = async (...asked: Parameters<typeof platform.ask>) => {
    const answer = await platform.ask(...asked)
    const { error } = (await answer.json()) as { readonly error: string }
    return [answer.status, error]
  }
  expect(await refused('/builder/projects?limit=500')).toEqual([400, 'query.limit must be at most 100, not 500.'])
  expect(await refused('/builder/projects?limit=many')).toEqual([
    400,
    'query.limit must be a whole number, not "many".',
  ])
  expect(await refused('/builder/projects?status=draft&status=dead')).toEqual([
    400,
    'query.status[1] must be one of "draft", "live", not "dead".',
  ])
  expect(await refused('/builder/projects?filter[stars]=x')).toEqual([
    400,
    'query.filter.stars must be a whole number, not "x".',
  ])
  expect(await refused('/builder/projects', { headers: { 'x-tenant': 'A1' } })).toEqual([
    400,
    'header.x-tenant must match /^[a-z]+$/, not "A1".',
  ])
  expect(await refused('/builder/projects', { method: 'POST' })).toEqual([400, 'body is missing.'])
  expect(await refused('/builder/projects', json({ status: 'dead' }))).toEqual([
    400,
    'body.name is missing. body.status must be one of "draft", "live", not "dead".',
  ])
  const csv = { ...json({}), headers: { 'content-type': 'text/csv' } }
  expect(await refused('/builder/projects', csv)).toEqual([
    415,
    'The Content-Type is "text/csv". Send application/json.',
  ])
})

test('validate: false lets any request pass', async () => {
  const platform = await platformFor(undefined, {}, { validate: false })
  expect((await platform.ask('/builder/projects?limit=many')).status).toBe(200)
  expect((await platform.ask('/builder/projects', { method: 'POST' })).status).toBe(201)
})
