/** A server for the access-token hook: a process of its own, which checks signatures by itself and answers as each user's metadata says. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterAll } from 'vitest'
import { once as onlyOnce } from '../../src/core/work.js'

const program = `
const { createHmac, timingSafeEqual } = require('node:crypto')
const keys = process.argv[1].split('|').map(secret => Buffer.from(secret.slice('v1,whsec_'.length), 'base64'))

function isSigned(headers, body) {
  const content = [headers['webhook-id'], headers['webhook-timestamp'], body].join('.')
  if (Math.abs(Date.now() / 1000 - Number(headers['webhook-timestamp'])) > 300) return false
  const sent = headers['webhook-signature'].split(', ')
  return sent.length === keys.length && keys.every((key, i) => {
    const own = Buffer.from('v1,' + createHmac('sha256', key).update(content).digest('base64'))
    return own.length === sent[i].length && timingSafeEqual(own, Buffer.from(sent[i]))
  })
}

const tries = new Map()
require('node:http').createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString()
  if (request.method !== 'POST' || !isSigned(request.headers, body)) return response.writeHead(401).end()
  const seen = JSON.parse(body)
  const { claims, user_id, metadata, authentication_method } = seen
  const count = (tries.get(metadata.uuid) ?? 0) + 1
  tries.set(metadata.uuid, count)
  const { status = 200, headers, text, more, without, after = 0, reset, cut, silent } = claims.user_metadata.hook ?? {}
  if (silent) return
  if (reset && count <= reset) return request.socket.destroy()
  const usual = { claims: { ...claims, ...more, tries: count, seen: { user_id, metadata, authentication_method, headers: request.headers } } }
  delete usual.claims[without]
  const isPassed = count > after
  response.writeHead(isPassed && after > 0 ? 200 : status, { 'content-type': 'application/json; charset=utf-8', ...(headers ?? {}) })
  if (cut) return response.write('{', () => response.destroy())
  response.end(text === undefined || (isPassed && after > 0) ? JSON.stringify(usual) : text)
}).listen(0, '127.0.0.1', function () { console.log(this.address().port) })
`

const key = (letter: string) => `v1,whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`

/** Two secrets, as while one replaces the other. */
export const secrets = `${key('a')}|${key('b')}`

/** One server for all tests of a file, since it takes longer to start than a test. */
const server = onlyOnce(async () => {
  const child = spawn(process.execPath, ['-e', program, secrets], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = await once(createInterface({ input: child.stdout }), 'line')
  return { child, url: `http://127.0.0.1:${port}/hook` }
})

afterAll(async () => (await server()).child.kill())

/** The options that name the server. */
export const hookServer = async (secret = secrets) => ({
  hooks: { customAccessToken: { url: (await server()).url, secret } },
})
