import fc from 'fast-check'
import { expect } from 'vitest'
import { controlOperations } from '../../src/control/operations.js'
import type { Operations } from '../../src/core/operation.js'
import { CONTROL, DASHBOARD } from '../../src/core/paths.js'
import { dashboardOperations } from '../../src/dashboard/operations.js'
import { folderWith } from '../command.js'
import { runs } from '../runs.js'
import { appElsewhere, inBrowser, REBOUND, useBrowser } from './browser.js'
import { recordings } from './lists.js'
import { ada, signedUp } from './people.js'
import { platformWith, type Scene } from './scene.js'

const openPage = useBrowser()

interface Operation {
  readonly method: string
  readonly url: string
  readonly body: string
}

/** Bodies that would change something if they got through. */
const bodies: Readonly<Record<string, object>> = {
  '/dashboard/api/keys': { name: 'foreign' },
  '/__standin/mode': { mode: 'replay' },
  '/__standin/settings': { pace: { firstTokenMs: 9999 }, limits: { requestsPerMinute: 1 }, clock: { frozen: true } },
  '/__standin/faults': { fault: { status: 500 } },
  '/__standin/recordings': { exchange: '1' },
  '/__standin/replies': { reply: { text: 'foreign' } },
  '/__standin/tokens': { role: 'service' },
}

/** A platform with something of every kind to read, change and delete. */
async function platformToAttack() {
  const replies = folderWith({ 'none.yaml': '' })
  const platform = await platformWith({ recordings: { dir: recordings(1) }, replies: [`${replies}/*.yaml`] })
  const token = await signedUp(platform)
  const headers = { 'content-type': 'application/json' }
  const post = (path: string, body: object, bearer: string | null = null) =>
    platform.ask(path, { method: 'POST', bearer, headers, body: JSON.stringify(body) })
  await post('/dashboard/api/keys', { name: 'mine' }, token)
  await post('/__standin/replies', { name: 'mine', reply: { text: 'mine' } })
  await post('/__standin/faults', { fault: { status: 418 }, when: { user: 'never said' } })
  await (await platform.ask('/health')).text()
  return { platform, post, operations: operationsOf(platform) }
}

/** Created only for their declarations. */
const noParts = {} as never

const declared: readonly (readonly [prefix: string, operations: Operations])[] = [
  [CONTROL, controlOperations(noParts)],
  [`${DASHBOARD}/api`, dashboardOperations(noParts)],
]

/** All operations of the control API and the dashboard's API: the declared ones, and those that have no declaration. */
function operationsOf({ url }: Scene): readonly Operation[] {
  const described = declared.flatMap(([prefix, operations]) =>
    Object.values(operations).map(({ at }) => {
      const [method = '', path = ''] = at.split(' ')
      return { path: prefix + path, method }
    }),
  )
  const others = ['/dashboard', '/dashboard/api/config', '/dashboard/api/users', '/dashboard/api/messages']
  const more = [...others, '/__standin/journal?follow&brief'].map(path => ({ path, method: 'GET' }))
  return [...described, ...more].map(({ path, method }) => ({
    method,
    url: url + path.replace(/\{\w+\}/g, '1'),
    body: JSON.stringify(bodies[path] ?? {}),
  }))
}

/** The current state of everything that can be changed. */
async function everythingOf({ ask }: Scene): Promise<unknown> {
  const paths = ['mode', 'situation', 'replies', 'recordings', 'sessions', 'state']
  const read = async (path: string) => [path, await (await ask(`/__standin/${path}`, { bearer: null })).json()] as const
  // Only /health, because a browser requests favicons on its own, which the platform does not have.
  const kept = await read('journal?path=/health')
  const { clock, ...settings } = (await read('settings'))[1] as Record<string, Record<string, unknown>>
  return [...(await Promise.all(paths.map(read))), kept, settings, clock?.frozen, clock?.offsetMs]
}

/**
 * Runs on the page, as text, because the tests have no DOM types: tries everything that a page can do with an address of another origin, and
 * returns what it could read.
 */
const attack = `async (operations, some, names) => {
  const leaks = []
  const says = (how, { method, url }, what) => leaks.push(how + ' ' + method + ' ' + url + ': ' + String(what).slice(0, 200))
  const within = (ms, promise) => Promise.race([promise, new Promise(done => setTimeout(done, ms))])
  const tries = {
    async fetch(one) {
      const plain = { method: one.method, headers: { 'content-type': 'text/plain' } }
      const body = /GET|HEAD/.test(one.method) ? undefined : one.body
      const inits = [{ ...plain, body }, { method: one.method, body, headers: { 'content-type': 'application/json' } }]
      if (one.method !== 'GET') inits.push({ method: 'POST', body, headers: { 'x-http-method-override': one.method } })
      for (const init of inits)
        await fetch(one.url, init).then(async response => says('fetch', one, await response.text()), () => {})
    },
    async opaque(one) {
      const method = one.method === 'GET' ? 'GET' : 'POST'
      const leaving = new AbortController()
      const body = method === 'POST' ? one.body : undefined
      const init = { method, body, mode: 'no-cors', credentials: 'include', signal: leaving.signal }
      await fetch(one.url, init).then(async ({ type, status, body }) => {
        if (type !== 'opaque' || status !== 0 || body) says('no-cors', one, type)
      }, () => {})
      leaving.abort()
    },
    async form(one) {
      const enctypes = one.method === 'GET' ? ['text/plain'] : ['text/plain', 'application/x-www-form-urlencoded']
      await Promise.all(enctypes.map(async enctype => {
        const frame = document.body.appendChild(document.createElement('iframe'))
        frame.name = 'frame' + Math.random()
        const form = document.createElement('form')
        const input = document.createElement('input')
        // As text/plain this is JSON: the "=" goes into a string.
        input.name = one.body.replace(/}$/, (one.body === '{}' ? '' : ',') + '"x":"')
        input.value = '"}'
        form.append(input)
        Object.assign(form, { action: one.url, method: one.method === 'GET' ? 'GET' : 'POST', enctype, target: frame.name })
        document.body.append(form)
        const loaded = new Promise(done => frame.addEventListener('load', done))
        form.submit()
        await within(1000, loaded)
        try { if (frame.contentDocument && frame.contentDocument.URL !== 'about:blank') says('form', one, frame.contentDocument.body.innerText) } catch {}
        frame.remove()
      }))
    },
    async beacon(one) {
      for (const type of ['text/plain', 'application/json']) navigator.sendBeacon(one.url, new Blob([one.body], { type }))
    },
    async element(one) {
      if (one.method !== 'GET' || one.url.includes('follow')) return
      await Promise.all(['img', 'script', 'link', 'iframe'].map(async tag => {
        const element = document.createElement(tag)
        const over = new Promise(done => { element.onload = () => done('loaded'); element.onerror = () => done('failed') })
        element[tag === 'link' ? 'href' : 'src'] = one.url
        if (tag === 'link') element.rel = 'stylesheet'
        document.body.append(element)
        const how = await within(500, over)
        if (how === 'loaded' && tag !== 'iframe') says(tag, one, how)
        try { if (element.contentDocument && element.contentDocument.URL !== 'about:blank') says(tag, one, element.contentDocument.body.innerText) } catch {}
        element.remove()
      }))
    },
    async events(one) {
      if (one.method !== 'GET') return
      const source = new EventSource(one.url)
      await within(300, new Promise(done => {
        for (const event of ['open', 'message', 'exchange', 'exchanges', 'began']) source.addEventListener(event, () => done(says('events', one, event)))
        source.onerror = done
      }))
      source.close()
    },
    async socket(one) {
      if (one.method !== 'GET') return
      const socket = new WebSocket(one.url.replace('http', 'ws'))
      await within(300, new Promise(done => {
        socket.onopen = () => done(says('socket', one, 'open'))
        socket.onmessage = ({ data }) => done(says('socket', one, data))
        socket.onerror = done
      }))
      socket.close()
    },
  }
  const quick = ['fetch', 'opaque', 'beacon']
  for (const name of names ?? Object.keys(tries)) await Promise.all((quick.includes(name) ? operations : some).map(tries[name]))
  return leaks
}`

/** All attacks, or the named ones. Those that need frames, elements or connections are tried on a random part of the operations. */
function attackOn(operations: readonly Operation[], ...names: readonly string[]): string {
  const some = fc
    .sample(fc.shuffledSubarray([...operations], { minLength: operations.length }), 1)[0]
    ?.slice(0, runs(operations.length))
  const given = [operations, some, ...(names.length > 0 ? [names] : [])]
  return `(${attack})(${given.map(value => JSON.stringify(value)).join()})`
}

inBrowser('a page of another origin can neither read nor change anything through any control route', async () => {
  const { platform, post, operations } = await platformToAttack()
  expect(operations.length).toBeGreaterThan(50)
  const before = await everythingOf(platform)
  const { page } = await openPage()
  await page.goto(await appElsewhere())
  expect(await page.evaluate(attackOn(operations))).toEqual([])
  expect(await everythingOf(platform)).toEqual(before)
  // A request from here does change something, so an attack would have been noticed.
  await post('/__standin/faults', { fault: { status: 418 } })
  expect(await everythingOf(platform)).not.toEqual(before)
})

inBrowser('a sandboxed frame without an origin can neither read nor change anything', async () => {
  const { platform, operations } = await platformToAttack()
  const before = await everythingOf(platform)
  const { page } = await openPage()
  await page.goto(await appElsewhere())
  const leaks = await page.evaluate<readonly string[]>(`new Promise(done => {
    addEventListener('message', ({ data }) => done(data))
    const frame = document.createElement('iframe')
    frame.sandbox = 'allow-scripts allow-forms'
    frame.srcdoc = ${JSON.stringify(`<body><script>${attackOn(operations, 'fetch', 'opaque', 'form')}.then(leaks => parent.postMessage(leaks, '*'))</script>`).replaceAll('</', '<\\/')}
    document.body.append(frame)
  })`)
  expect(leaks).toEqual([])
  expect(await everythingOf(platform)).toEqual(before)
})

inBrowser('a page whose name was rebound to this machine can neither read nor change anything', async () => {
  const { platform, operations } = await platformToAttack()
  const before = await everythingOf(platform)
  const { page } = await openPage()
  const { port } = new URL(platform.url)
  const own = `http://${REBOUND}:${port}`
  expect((await page.goto(`${own}/dashboard`))?.status()).toBe(403)
  const answers = await page.evaluate<readonly { status: number; text: string }[]>(
    `Promise.all(${JSON.stringify(operations)}.map(async ({ method, url, body }) => {
      const init = { method, headers: { 'content-type': 'application/json' }, ...(method !== 'GET' && { body }) }
      const response = await fetch(new URL(url).pathname, init)
      return { status: response.status, text: await response.text() }
    }))`,
  )
  expect(answers).toHaveLength(operations.length)
  for (const { status, text } of answers) {
    expect(status).toBe(403)
    expect(JSON.parse(text)).toEqual({ error: expect.stringContaining('must be called by its own name') })
    expect(text).not.toContain(ada.email)
  }
  expect(await everythingOf(platform)).toEqual(before)
})
