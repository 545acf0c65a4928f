import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import type { Recording } from '../../src/recordings/index.js'
import { run, runIn } from '../command.js'
import { fromChrome, harWith, LIVE } from '../recordings/hars.js'
import { platformWith } from '../scene.js'
import { filesOf, recorded } from './recorded.js'

interface Exchange {
  readonly method?: string
  readonly path: string
  readonly query?: string
  /** A text is a form. */
  readonly body?: object | string
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly said: string | Buffer
}

/** A recording of a path of the user's own. */
function onPath({ method = 'GET', path, query = '', body, status = 200, headers = {}, said }: Exchange): Recording {
  const { recordedAt, response } = recorded()
  const sent = typeof body === 'string' ? { kind: 'text' as const, text: body } : { kind: 'json' as const, value: body }
  return {
    recordedAt,
    request: { method, path, query, body: body ? sent : { kind: 'none' } },
    response: {
      ...response,
      status,
      headers: Object.entries(headers),
      chunks: [{ atMs: 2, bytes: Buffer.from(said) }],
    },
  }
}

const json = { 'content-type': 'application/json' }
const projects = (said: string, query = '') => onPath({ path: '/builder/projects', query, headers: json, said })

const deploy = onPath({
  ...{ method: 'POST', path: '/builder/deploy', body: { target: 'staging' }, status: 202, said: '{"state":"queued"}' },
  headers: { ...json, location: '/builder/deployments/1' },
})

const log = onPath({
  ...{ path: '/builder/log', headers: { 'content-type': 'text/event-stream' } },
  said: 'event: line\ndata: {"text":"building"}\n\ndata: done\n\n',
})

async function drafted(...recordings: readonly Recording[]) {
  const { stdout, stderr, code } = await run(['replies', 'from-recordings'], { files: filesOf(...recordings) })
  return { rules: parse(stdout), stderr, code }
}

test('recorded answers become rules that return the same answers', async () => {
  const { rules } = await drafted(projects('[]'), projects('[{"id":"{{ 1 }}"}]', 'page=2'), deploy, log, recorded())
  const platform = await platformWith({ rules })
  const said = async (...asked: Parameters<typeof platform.ask>) => (await platform.ask(...asked)).text()
  expect(await said('/builder/projects?page=2')).toBe('[{"id":"{{ 1 }}"}]')
  expect(await said('/builder/projects')).toBe('[]')
  const answer = await platform.ask('/builder/deploy', { method: 'POST', body: '{"target":"staging"}', headers: json })
  expect([answer.status, answer.headers.get('location')]).toEqual([202, '/builder/deployments/1'])
  expect(await answer.json()).toEqual({ state: 'queued' })
  expect(await said('/builder/log')).toBe('event: line\ndata: {"text":"building"}\n\ndata: done\n\n')
  const answered = await platform.chat(chat('hello'))
  expect(await answered.json()).toMatchObject({ choices: [{ message: { content: 'Hi!' } }] })
})

const chat = (content: string, system?: string) => ({
  model: 'gpt-4o',
  messages: [...(system === undefined ? [] : [{ role: 'system', content: system }]), { role: 'user', content }],
})

test('a prompt that is part of another one does not take its answer', async () => {
  const recordings = ['[key-1] err', 'err', 'err404'].map(prompt => recorded({ prompt, answer: `to ${prompt}` }))
  const { rules } = await drafted(...recordings)
  const files = { 'platform.config.yaml': 'replies: rules.yaml\n', 'rules.yaml': JSON.stringify(rules) }
  expect(await run(['replies', 'check'], { files })).toMatchObject({ code: 0 })
  const platform = await platformWith({ rules })
  for (const [prompt, answer] of [
    ['err', 'to err'],
    ['err404', 'to err404'],
    ['sk-1 err', 'to [key-1] err'],
  ] as const) {
    const said = await (await platform.chat(chat(prompt))).json()
    expect(said).toMatchObject({ choices: [{ message: { content: answer } }] })
  }
})

interface DraftedChatRule {
  readonly when: { readonly user: { readonly exact: string }; readonly system?: { readonly exact: string } }
}

test('one prompt under two system messages becomes two rules that tell them apart', async () => {
  const bye = (answer: string, system?: string) => recorded({ prompt: 'Bye', answer, ...(system && { system }) })
  const { rules } = await drafted(
    ...[bye('Bye.'), bye('Au revoir.', 'Speak French.'), bye('Adieu.', 'Speak French.')],
    ...[bye('Tschüss.', 'Speak German.'), recorded({ system: 'Speak French.', prompt: 'Hello', answer: 'Bonjour.' })],
  )
  const conditions = rules.map(({ when: { user, system } }: DraftedChatRule) => [user.exact, system?.exact])
  expect(new Set(conditions)).toEqual(
    new Set([
      ['Bye', 'Speak French.'],
      ['Bye', 'Speak German.'],
      ['Bye', undefined],
      ['Hello', undefined],
    ]),
  )
  const platform = await platformWith({ rules })
  for (const [system, answer] of [
    ['Speak German.', 'Tschüss.'],
    ['Speak French.', 'Au revoir.'],
    ['Speak French.', 'Adieu.'],
    [undefined, 'Bye.'],
  ] as const) {
    const said = await (await platform.chat(chat('Bye', system))).json()
    expect(said).toMatchObject({ choices: [{ message: { content: answer } }] })
  }
})

test('a request that was recorded several times becomes one rule with its answers in turn', async () => {
  const { rules } = await drafted(projects('["first"]'), projects('["second"]'))
  expect(rules).toEqual([
    {
      name: 'get-builder-projects',
      on: 'GET /builder/projects',
      replies: [{ json: ['first'] }, { json: ['second'] }],
    },
  ])
})

test('forms that differ become rules that tell them apart', async () => {
  const form = (body: string, said: string) => onPath({ method: 'POST', path: '/builder/forms', body, said })
  const { rules } = await drafted(form('a=1&b=x+y', 'first'), form('a=2&b=x+y', 'second'))
  const platform = await platformWith({ rules })
  const send = (a: string) =>
    platform.ask('/builder/forms', { method: 'POST', body: new URLSearchParams({ a, b: 'x y' }) })
  expect(await (await send('2')).text()).toBe('second')
  expect(await (await send('1')).text()).toBe('first')
})

test('an answer without a body becomes a rule with its status', async () => {
  const hook = onPath({ method: 'POST', path: '/builder/hook', said: '' })
  const { rules } = await drafted(hook)
  expect(rules).toEqual([{ name: 'post-builder-hook', on: 'POST /builder/hook', reply: { status: 200 } }])
  const platform = await platformWith({ rules })
  const answer = await platform.ask('/builder/hook', { method: 'POST' })
  expect([answer.status, await answer.text()]).toEqual([200, ''])
})

test('answers to requests that one rule matches keep the order in which they were recorded', async () => {
  const turns = ['one', 'two', 'three', 'four', 'five']
  const sent = turns.map((answer, i) => {
    const recording = recorded({ answer, ageDays: 9 - i })
    const value = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }], user: answer }
    return { ...recording, request: { ...recording.request, body: { kind: 'json', value } } } as const
  })
  const { rules } = await drafted(...sent)
  expect(rules).toMatchObject([{ replies: turns.map(text => ({ text })) }])
})

test('an exchange that cannot become a rule is skipped, with the reason', async () => {
  const models = onPath({ path: '/v1/models', headers: json, said: '{}' })
  const logo = onPath({ path: '/logo.png', headers: { 'content-type': 'image/png' }, said: Buffer.of(0x89, 0xff) })
  const { rules, stderr } = await drafted(models, logo, projects('[]'))
  expect(rules).toHaveLength(1)
  expect(stderr).toBe(
    [
      'Skipped:',
      "  1: No rule can be created from this exchange, because the platform's document defines the answers of this endpoint.",
      '  1: No rule can be created from this exchange, because its answer is binary.\n',
    ].join('\n'),
  )
})

test('a recorded HEAD is skipped, since the GET rule of its path answers it', async () => {
  const head = onPath({ method: 'HEAD', path: '/builder/projects', headers: json, said: '' })
  const { rules, stderr } = await drafted(head, projects('["first"]'))
  expect(rules).toEqual([{ name: 'get-builder-projects', on: 'GET /builder/projects', reply: { json: ['first'] } }])
  expect(stderr).toBe(
    'Skipped:\n  1: No rule can be created from this exchange, because the rule for GET answers HEAD.\n',
  )
  const platform = await platformWith({ rules })
  expect((await platform.ask('/builder/projects', { method: 'HEAD' })).status).toBe(200)
})

test('rules go to a new file and never overwrite an existing one', async () => {
  const args = ['replies', 'from-recordings', '--output', 'rules/drafted.yaml']
  const started = runIn(args, { files: filesOf(deploy) })
  expect(await started.ended).toMatchObject({ code: 0, stdout: '1 rule written to rules/drafted.yaml.\n' })
  expect(parse(readFileSync(path.join(started.dir, 'rules/drafted.yaml'), 'utf8'))).toHaveLength(1)
  const printed = await run([...args.slice(0, -1), '-'], { files: filesOf(deploy) })
  expect(parse(printed.stdout)).toHaveLength(1)
  const again = await run(args, { files: { ...filesOf(deploy), 'rules/drafted.yaml': '[]' } })
  expect(again.code).toBe(2)
  expect(again.stderr).toContain('rules/drafted.yaml already exists. Give --output the name of a new file.')
})

test('a HAR file becomes rules instead of recordings', async () => {
  const entry = fromChrome({ method: 'GET', path: '/builder/projects', text: '[]' })
  const started = runIn(['import', 'app.har', '--base', LIVE, '--rules', 'drafted.yaml'], {
    files: { 'app.har': JSON.stringify(harWith(entry)) },
  })
  expect(await started.ended).toMatchObject({ code: 0, stdout: '1 rule written to drafted.yaml.\n' })
  expect(parse(readFileSync(path.join(started.dir, 'drafted.yaml'), 'utf8'))).toMatchObject([
    { on: 'GET /builder/projects' },
  ])
  expect(existsSync(path.join(started.dir, 'fixtures/recordings'))).toBe(false)
})

test('entries of a HAR file that no rule comes from are counted', async () => {
  const entries = [
    fromChrome({ method: 'GET', path: '/builder/projects', text: '[]' }),
    fromChrome({ method: 'HEAD', path: '/builder/projects' }),
    fromChrome({ method: 'OPTIONS', path: '/builder/projects' }),
  ]
  const args = ['import', 'app.har', '--base', LIVE, '--rules', 'drafted.yaml']
  const { stdout } = await run(args, { files: { 'app.har': JSON.stringify(harWith(...entries)) } })
  expect(stdout).toBe(
    '1 rule written to drafted.yaml.\nSkipped:\n  1 preflight\n' +
      '  1: No rule can be created from this exchange, because the rule for GET answers HEAD.\n',
  )
})

test('answers in a HAR file to requests that one rule matches keep their order in time', async () => {
  const turns = ['one', 'two', 'three']
  // A recording includes this parameter, but a rule has no condition for it.
  const path = (i: number) => `/builder/next?page[at]=${i % 2}`
  const entries = turns.map((word, i) =>
    fromChrome({ method: 'GET', path: path(i), text: `["${word}"]`, at: `2026-03-01T12:00:0${i}.000Z` }),
  )
  const { dir, ended } = runIn(['import', 'app.har', '--base', LIVE, '--rules', 'drafted.yaml'], {
    files: { 'app.har': JSON.stringify(harWith(...entries)) },
  })
  await ended
  expect(parse(readFileSync(`${dir}/drafted.yaml`, 'utf8'))).toMatchObject([
    { replies: turns.map(word => ({ json: [word] })) },
  ])
})
