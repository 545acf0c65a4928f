import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import express from 'express'
import OpenAI from 'openai'
import supertest from 'supertest'
import { expect, onTestFinished, test } from 'vitest'
import { type PlatformOptions, startPlatform } from '../../src/index.js'
import { hello } from '../scene.js'

const words = { rules: [{ reply: { text: 'one two three four five six' }, pace: { tokensPerSecond: 40 } }] }

async function mounted(options: PlatformOptions = {}) {
  const platform = await startPlatform({ listen: false, ...options })
  onTestFinished(() => platform.stop())
  return platform
}

/** The URL of a server that runs this app. */
async function serving(app: RequestListener): Promise<string> {
  const server = createServer(app).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise(resolve => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const asApp = (baseURL: string, apiKey: string) => new OpenAI({ baseURL, apiKey, maxRetries: 0 })

async function streamed(client: OpenAI): Promise<string> {
  let text = ''
  const stream = await client.chat.completions.create({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'x' }],
    stream: true,
  })
  for await (const { choices } of stream) text += choices[0]?.delta.content ?? ''
  return text
}

test('supertest sends requests to a platform without a port', async () => {
  const { handler, apiKey, anonKey, url, journal } = await mounted()
  expect(url).toBe('http://localhost')
  const { body } = await supertest(handler).get('/v1/models').auth(apiKey, { type: 'bearer' }).expect(200)
  expect(body.object).toBe('list')
  await supertest(handler).post('/v1/chat/completions').auth(apiKey, { type: 'bearer' }).send(hello).expect(200)
  await supertest(handler).get('/nowhere').expect(404, { error: 'Not found.', path: '/nowhere' })
  await supertest(handler).get('/v1/models').expect(401)
  await supertest(handler).get('/auth/v1/health').set('apikey', anonKey).expect(200)
  await supertest(handler).get('/__standin/ready').expect(200)
  await supertest(handler).get('/dashboard/').expect(200)
  expect(await journal.count('/v1/*')).toBe(3)
})

test('two platforms share an express app, each under its prefix, beside the routes of the app', async () => {
  const [one, other] = await Promise.all([
    mounted({ rules: [{ reply: { text: 'I am one' } }] }),
    mounted({ rules: [{ reply: { text: 'I am other' } }] }),
  ])
  const app = express()
  app.use('/one', one.handler)
  app.use('/other', other.handler)
  app.get('/', (_request, response) => void response.send('home'))
  const url = await serving(app)
  const ask = async (prefix: string, key: string) => {
    const { choices } = await asApp(`${url}/${prefix}/v1`, key).chat.completions.create({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'x' }],
    })
    return choices[0]?.message.content
  }
  expect([await ask('one', one.apiKey), await ask('other', other.apiKey)]).toEqual(['I am one', 'I am other'])
  expect(await (await fetch(url)).text()).toBe('home')
  expect(await (await fetch(`${url}/one/nowhere?x=1`)).json()).toEqual({ error: 'Not found.', path: '/nowhere' })
  expect((await fetch(`${url}/one/__standin/ready`)).status).toBe(200)
})

test('a stream passes intact through middleware that wraps every write', async () => {
  const { handler, apiKey } = await mounted(words)
  const app = express()
  const seen = { heads: 0, writes: 0 }
  app.use((_request, response, next) => {
    const { writeHead, write } = response
    response.writeHead = (...rest: unknown[]) => {
      seen.heads++
      response.setHeader('x-app', 'mine')
      return Reflect.apply(writeHead, response, rest)
    }
    response.write = (...rest: unknown[]) => {
      seen.writes++
      return Reflect.apply(write, response, rest)
    }
    next()
  })
  app.use(handler)
  const url = await serving(app)
  expect(await streamed(asApp(`${url}/v1`, apiKey))).toBe('one two three four five six')
  expect(seen.heads).toBe(1)
  expect(seen.writes).toBeGreaterThan(2)
  const whole = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${apiKey}` } })
  expect(whole.headers.get('x-app')).toBe('mine')
  expect(whole.headers.get('content-type')).toMatch(/^application\/json/)
})

test('a body that express has already parsed is used', async () => {
  const { handler, apiKey, journal } = await mounted({ rules: [{ reply: { text: 'Hi' } }] })
  const app = express().use(express.json()).use('/ai', handler)
  const url = await serving(app)
  const { choices } = await asApp(`${url}/ai/v1`, apiKey).chat.completions.create(hello as never)
  expect(choices[0]?.message.content).toBe('Hi')
  expect(await journal.count({ body: hello })).toBe(1)
  const raw = express()
    .use(express.raw({ type: '*/*' }))
    .use(handler)
  await supertest(raw).post('/v1/chat/completions').auth(apiKey, { type: 'bearer' }).send(hello).expect(200)
  const text = express()
    .use(express.text({ type: '*/*' }))
    .use(handler)
  await supertest(text).post('/v1/chat/completions').auth(apiKey, { type: 'bearer' }).send(hello).expect(200)
  await supertest(text)
    .post('/v1/chat/completions')
    .auth(apiKey, { type: 'bearer' })
    .set('content-type', 'application/json')
    .send('{')
    .expect(400)
})

test('a body that was already read causes an error that says what to do', async () => {
  const { handler, apiKey } = await mounted()
  const app = express()
    .use((request, _response, next) => void request.resume().on('end', next))
    .use(handler)
  await supertest(app).post('/v1/chat/completions').auth(apiKey, { type: 'bearer' }).send(hello).expect(500, {
    error:
      'The body was already read when the request reached platform.handler. Mount it before the middleware that reads bodies.',
  })
})

test('stop cuts open streams and answers later requests with a 503', async () => {
  const platform = await mounted({ rules: [{ reply: { text: 'a b c d e f g h' }, pace: { tokensPerSecond: 5 } }] })
  const url = await serving(platform.handler)
  const stream = expect(streamed(asApp(`${url}/v1`, platform.apiKey))).rejects.toThrow()
  await expect
    .poll(() =>
      platform.idle({ quietMs: 0, timeoutMs: 1 }).then(
        () => 'idle',
        () => 'busy',
      ),
    )
    .toBe('busy')
  await platform.stop()
  await stream
  await supertest(platform.handler).get('/health').expect(503, { error: 'The platform has been stopped.' })
})

test('a server that other machines can reach refuses them the control API', async () => {
  const { handler } = await mounted()
  const address = Object.values(networkInterfaces())
    .flat()
    .find(one => one?.family === 'IPv4' && !one.internal)?.address
  const server = createServer(handler).listen(0, '0.0.0.0')
  onTestFinished(() => void server.close())
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  expect((await fetch(`http://127.0.0.1:${port}/__standin/mode`)).status).toBe(200)
  if (address === undefined) return
  expect((await fetch(`http://${address}:${port}/__standin/mode`)).status).toBe(403)
  expect((await fetch(`http://${address}:${port}/health`)).status).toBe(200)
})
