import request from 'supertest'
import { expect, test } from 'vitest'
import { platformWith } from '../scene.js'
import { mustBe } from '../sentences.js'

test('the health check returns ok and the version', async () => {
  const { url } = await platformWith()
  await request(url)
    .get('/health')
    .expect(200)
    .expect('content-type', 'application/json')
    .expect({ status: 'ok', version: '1.0.0' })
})

test('the health check returns the configured version', async () => {
  const { url } = await platformWith({ version: '12.34.56' })
  await request(url).get('/health').expect(200, { status: 'ok', version: '12.34.56' })
})

test('a version that is not three numbers stops the start', async () => {
  await expect(platformWith({ version: 'v1' })).rejects.toThrow(
    mustBe('version', 'three numbers with dots, such as 1.0.0', 'v1'),
  )
})
