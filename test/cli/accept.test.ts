import { execFileSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { folderWith, forAll, run, runInProcess, type Until } from '../command.js'
import { liveWith } from '../recordings/live.js'
import { namesIn } from './recorded.js'

const QUESTIONS = 15

/** An agent's suite: questions, one of them twice, and a tool loop. It fails if a request has no answer. */
const suite = `
const { OPENAI_BASE_URL, OPENAI_API_KEY, SYSTEM, DEVELOPER, MODEL = 'gpt-4o-mini', TOOL = 'get_weather', MORE_TOOL, TEMPERATURE } = process.env
const instructions = [SYSTEM && { role: 'system', content: SYSTEM }, DEVELOPER && { role: 'developer', content: DEVELOPER }]
const toolOf = name => ({ type: 'function', function: { name, parameters: { type: 'object', properties: {} } } })
const tools = [toolOf(TOOL), ...(MORE_TOOL ? [toolOf(MORE_TOOL)] : [])]
const parameters = TEMPERATURE ? { temperature: Number(TEMPERATURE) } : {}
async function ask(scope, messages, more = {}) {
  const response = await fetch(OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + OPENAI_API_KEY, 'content-type': 'application/json', 'x-standin-scope': scope },
    body: JSON.stringify({ model: MODEL, messages: [...instructions.filter(Boolean), ...messages], user: 'run-' + Math.random(), ...parameters, ...more }),
  })
  if (!response.ok) process.exitCode = 1
  return (await response.json()).choices?.[0].message
}
const user = content => ({ role: 'user', content })
for (let i = 0; i < ${QUESTIONS}; i++) await ask('question ' + i, [user('Question ' + i)])
for (const expected of ['first', 'second']) {
  const { content } = (await ask('twice', [user('Twice')])) ?? {}
  if (!content?.endsWith(expected)) process.exitCode = 1
}
const call = await ask('weather', [user('Weather?')], { tools })
if (call) await ask('weather', [user('Weather?'), call, { role: 'tool', tool_call_id: call.tool_calls[0].id, content: '12' }], { tools })
`

interface Recorded {
  readonly ignore?: string
  readonly system?: string
  readonly prompts?: boolean
}

const SYSTEM = 'You are a guide. Answer briefly. Never guess.'

/** A folder with a suite that has been recorded, and committed to Git. */
async function recordedFolder({ ignore = 'user', system = SYSTEM, prompts = false }: Recorded, until?: Until) {
  let twice = 0
  const live = await liveWith((request, response) => {
    const { messages, model } = JSON.parse(live.seen.at(-1)?.body ?? '{}')
    const { role, content } = messages.at(-1)
    const said = content === 'Twice' ? `Twice, ${++twice === 1 ? 'first' : 'second'}` : `Answer to ${content}`
    const calls = [{ id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }]
    const message = role === 'user' && content === 'Weather?' ? { content: null, tool_calls: calls } : { content: said }
    const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }]
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id: request.url, object: 'chat.completion', created: 1, model, choices }))
  })
  const project = folderWith(
    {
      'suite.mjs': suite,
      'platform.config.yaml': `upstream: { baseUrl: ${live.url}, apiKey: sk-live-0123456789 }\nrecordings: { ignore: [${ignore}] }\n`,
    },
    until,
  )
  if (prompts) expect(await run(['recordings', 'repair', '--prompts', ...configIn(project)])).toMatchObject({ code: 0 })
  expect(await below(project)(['--mode', 'record'], { SYSTEM: system })).toMatchObject({ code: 0 })
  await live.close()
  const git = gitIn(project)
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'recorded')
  return project
}

const configIn = (project: string) => ['--config', path.join(project, 'platform.config.yaml')]

/** Runs the suite of a project below `standin exec`. */
const below = (project: string) => (flags: readonly string[], env: Readonly<Record<string, string>>) =>
  runInProcess(['exec', ...configIn(project), ...flags, '--', process.execPath, path.join(project, 'suite.mjs')], {
    env,
  })

const gitIn =
  (cwd: string) =>
  (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd, encoding: 'utf8' })

/** Recorded once. */
const plain = forAll(until => recordedFolder({}, until))

/** A suite that has been recorded. */
async function recordedSuite(options?: Recorded) {
  const project = folderWith()
  cpSync(await (options ? recordedFolder(options) : plain()), project, { recursive: true })
  const exec = below(project)
  const nearest = ['--mode', 'replay', '--on-miss', 'nearest']
  const system = options?.system ?? SYSTEM
  const git = gitIn(project)
  return {
    dir: path.join(project, 'fixtures/recordings'),
    git,
    replay: (env: Readonly<Record<string, string>>) => exec(['--mode', 'replay'], { SYSTEM: system, ...env }),
    nearest: (env: Readonly<Record<string, string>>) => exec(nearest, { SYSTEM: system, ...env }),
    accept: (...flags: readonly string[]) => run(['recordings', 'accept', ...configIn(project), ...flags]),
    names: () => namesIn(project),
    /** What git shows for a commit of everything: for each file its status, and the lines that changed. */
    changes() {
      git('add', '.')
      const statuses = git('diff', '--cached', '-M50%', '--name-status')
        .trim()
        .split('\n')
        .map(line => line[0])
      const lines = git('diff', '--cached', '-M50%', '-U0').match(/^[-+](?![-+]).*$/gm) ?? []
      return {
        statuses,
        lines: lines.map(line => line.replace(/^(.)\s*/, '$1 ')).filter(line => !/^. key: /.test(line)),
      }
    },
  }
}

const RECORDINGS = QUESTIONS + 4

test('a changed sentence costs two commands: the run says once what differs, accept edits the recordings in place, and replay is green', async () => {
  const { replay, nearest, accept, changes, names, git } = await recordedSuite()
  const changed = { SYSTEM: 'You are a guide. Answer in one sentence. Never guess.' }
  const missed = await replay(changed)
  expect(missed.code).toBe(1)
  expect(missed.stderr.match(/The nearest is/g)).toHaveLength(1)
  expect(missed.stderr).toContain('18 requests missed in the same way')
  expect(missed.stderr).toMatch(/--on-miss nearest .*\n +standin recordings accept --config/)

  const drifted = await nearest(changed)
  expect(drifted).toMatchObject({ code: 1, stdout: '' })
  expect(drifted.stderr).toContain(
    `${RECORDINGS} requests differ in messages[0].content: …a guide. Answer briefly. Never gues… → …a guide. Answer in one sentence. Never gues… (+2 tokens)\n  in question 0, question 1,`,
  )
  expect(drifted.stderr).toContain(`${RECORDINGS} served (${RECORDINGS} changed prompts), 0 missed, 0 unused`)
  expect(drifted.stderr).toMatch(/→ Accept the change, offline: standin recordings accept --config \S+\n$/)

  const before = await names()
  const dry = await accept('--dry-run')
  expect(dry).toMatchObject({ code: 0, stderr: '' })
  expect(dry.stdout).toContain(`${RECORDINGS} recordings would be changed.\n`)
  expect(await names()).toEqual(before)
  expect(git('status', '--short')).toBe('')

  const accepted = await accept()
  expect(accepted).toMatchObject({ code: 0, stderr: '' })
  expect(accepted.stdout.match(/^messages\[0\].content: .*Answer briefly.* → .*\(\+2 tokens\)$/gm)).toHaveLength(1)
  expect(accepted.stdout).toContain(`${RECORDINGS} recordings changed. The answers are the same.\n`)
  const { statuses, lines } = changes()
  expect(statuses).toEqual(Array(RECORDINGS).fill('M'))
  expect(new Set(lines)).toEqual(
    new Set([
      '- content: You are a guide. Answer briefly. Never guess.',
      '+ content: You are a guide. Answer in one sentence. Never guess.',
    ]),
  )
  expect(await replay(changed)).toMatchObject({ code: 0 })
  expect(await accept()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Nothing to accept/) })
})

test('branches that each accept another change, a sentence, a parameter and a tool, merge in Git without a conflict, prompts.yaml included, and replay', async () => {
  const { git, nearest, accept, replay, dir } = await recordedSuite({ prompts: true })
  const changes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    sentence: { SYSTEM: 'You are a guide. Answer in one sentence. Never guess.' },
    parameter: { TEMPERATURE: '0.2' },
    tool: { MORE_TOOL: 'get_time' },
  }
  git('branch', 'recorded')
  for (const [name, change] of Object.entries(changes)) {
    git('checkout', '-q', '-b', name, 'recorded')
    await nearest(change)
    expect(await accept()).toMatchObject({ code: 0, stderr: '' })
    expect(await replay(change)).toMatchObject({ code: 0 })
    git('add', '.')
    git('commit', '-qm', name)
  }
  git('checkout', '-q', 'sentence')
  for (const name of ['parameter', 'tool']) git('merge', '-q', '-m', 'merged', name)
  expect(await replay(Object.assign({}, ...Object.values(changes)))).toMatchObject({ code: 0 })
  expect(git('status', '--short')).toBe('')
  expect(await run(['recordings', 'repair', '--recordings', dir])).toMatchObject({ stdout: '0 files repaired.\n' })
})

test.each([
  ['another model', { MODEL: 'gpt-5-mini' }, /requests differ in model: "gpt-4o-mini" → "gpt-5-mini"/, RECORDINGS],
  [
    'an added developer message',
    { DEVELOPER: 'Be kind.' },
    /19 requests differ in messages\[1\] \(developer\): \(absent\) → "Be kind\." \(\+\d tokens\)/,
    RECORDINGS,
  ],
])('%s is accepted in the same way', async (_what, env, cause, changedFiles) => {
  const { replay, nearest, accept, changes } = await recordedSuite()
  const drifted = await nearest(env)
  expect(drifted.code).toBe(1)
  expect(drifted.stderr).toMatch(cause)
  expect(drifted.stderr.match(/requests? differs? in/g)).toHaveLength(1)
  expect(await accept()).toMatchObject({ code: 0, stderr: '' })
  const { statuses, lines } = changes()
  expect(statuses).toEqual(Array(changedFiles).fill('M'))
  const values = Object.values(env).join()
  expect(
    lines.filter(line => line.startsWith('+') && !line.includes(values) && !line.includes('role: developer')),
  ).toEqual([])
  expect(await replay(env)).toMatchObject({ code: 0 })
})

test('an answer that calls a renamed tool is left, since it has to be recorded again, and the rest is accepted', async () => {
  const { nearest, accept, names } = await recordedSuite()
  const drifted = await nearest({ TOOL: 'weather_of' })
  expect(drifted.stderr).toContain('2 requests differ in tools[0].function.name: "get_weather" → "weather_of"')
  const before = await names()
  const { code, stdout, stderr } = await accept()
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^\S+: was left as it is: its answer calls get_weather, which is gone\. Record it: standin exec .*\n$/,
  )
  expect(stdout).toContain('1 recording changed.')
  expect(before.filter(name => stderr.includes(name))).toHaveLength(1)
  expect(await names()).toEqual(expect.arrayContaining(before.filter(name => stderr.includes(name))))
})

test('a date that has changed is not to be accepted, but ignored', async () => {
  const { nearest } = await recordedSuite({ system: 'Today is 2026-11-28.' })
  const { stderr } = await nearest({ SYSTEM: 'Today is 2026-11-29.' })
  expect(stderr.match(/^→ .*$/gm)).toEqual([
    '→ Only a date differs. Add to platform.config.yaml: recordings.ignore: [dates]',
  ])
})
