import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { open, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { once } from '../../src/core/work.js'
import { type Command, type End, folderWith, run, runInProcess, start } from '../command.js'
import { liveWith } from '../recordings/live.js'
import { runHere } from '../run-here.js'
import { platformWith } from '../scene.js'
import { missOf } from '../sentences.js'
import { hasTerminals, startOnTerminal } from '../terminal.js'
import { lineOf } from './line.js'
import { filesOf, namesIn, recorded as recording } from './recorded.js'

const openai = pathToFileURL(createRequire(import.meta.url).resolve('openai'))

const shell = '#!/bin/sh\n'

/** A program for a child, in JavaScript or for the shell, and the command line that runs it. */
const child = (program: string) =>
  program.startsWith(shell)
    ? { args: ['--', 'sh', 'child.sh'], files: { 'child.sh': program } }
    : { args: ['--', process.execPath, 'child.mjs'], files: { 'child.mjs': program } }

/** Runs a program below `standin exec`. */
function exec(program: string, { flags = [], files = {}, env = {} }: Scene = {}): Command {
  const { args, files: own } = child(program)
  return start(['exec', ...flags, ...args], { files: { ...own, ...files }, env })
}

const silenced = (program: string) =>
  program.replace(shell, `${shell}exec >/dev/null\n`).replaceAll('console.log', 'void')

const here = { env: { PATH: process.env.PATH }, input: undefined }

/** The same in the process of the tests, which cannot capture what the child prints, so the child prints nothing. */
function execHere(program: string, { flags = [], files = {}, env = {} }: Scene = {}): Promise<End> {
  const { args, files: own } = child(silenced(program))
  return runInProcess(['exec', ...flags, ...args], { files: { ...own, ...files }, env })
}

interface Scene {
  readonly flags?: readonly string[]
  readonly files?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
}

/** Prints the address of its platform and keeps running. */
const staying = 'console.log(process.env.PLATFORM_BASE_URL); setInterval(() => {}, 1000);'

/** Prints the address of its platform. */
const printingAddress = `${shell}echo "$PLATFORM_BASE_URL"\n`

const isGone = (url: string) => expect(fetch(`${url}/health`)).rejects.toThrow('fetch failed')

test('exec ends with what to do about paths that clients know from elsewhere', async () => {
  const asking = `
    const ask = path => fetch(process.env.PLATFORM_BASE_URL + path, { method: 'POST' })
    for (const path of ['/v1/embeddings', '/v1/embeddings', '/rest/v1/todos', '/nowhere']) await ask(path)
    process.exitCode = 3`
  const { code, stderr } = await execHere(asking, { flags: ['--quiet'] })
  expect(code).toBe(3)
  expect(stderr).toMatch(
    /^2 requests to an unknown path: The platform has no \/v1\/embeddings\..*\n1 request to .*\/rest\/v1.*\n$/,
  )
  const json = await execHere(asking, { flags: ['--json'] })
  expect(json.stderr).toContain('{"event":"unknown-path","sentence":"The platform has no /v1/embeddings.')
})

test('a client reaches the platform with nothing but its environment', async () => {
  const { ended } = exec(
    `
    import OpenAI from '${openai}'
    const reply = await new OpenAI().chat.completions.create({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'ping' }],
    })
    console.log(reply.choices[0].message.content)`,
    {
      files: { 'fixtures/replies/a.yaml': '- when: { user: ping }\n  reply: { text: pong }\n' },
    },
  )
  expect(await ended).toEqual({ code: 0, signal: null, stdout: 'pong\n', stderr: '' })
})

test('every variable of the .env block is set and replaces an inherited one', async () => {
  const { ended } = exec(
    `const { SUPABASE_URL, SUPABASE_ANON_KEY, SUPABASE_SERVICE_ROLE_KEY, ...env } = process.env
    const status = async key => (await fetch(SUPABASE_URL + '/auth/v1/admin/users', { headers: { apikey: key, authorization: 'Bearer ' + key } })).status
    console.log(env.OPENAI_API_KEY, await status(SUPABASE_ANON_KEY), await status(SUPABASE_SERVICE_ROLE_KEY))
    console.log(Object.keys(env).filter(name => name.startsWith('STANDIN_')))`,
    { env: { OPENAI_API_KEY: 'sk-a-live-one' } },
  )
  expect((await ended).stdout).toMatch(/^sk-local-\S+ 403 200\n\[ 'STANDIN_RUN' \]\n$/)
})

test('the names that the project has for addresses and keys are set too, and the receipt lists what points elsewhere', async () => {
  const { ended, dir } = exec(
    `const { env } = process
    const url = env.PLATFORM_BASE_URL
    console.log([env.NEXT_PUBLIC_SUPABASE_URL, env.VITE_SUPABASE_URL, env.MY_URL].every(one => one === url))
    console.log(env.OPENAI_API_BASE === url + '/v1', env.NEXT_PUBLIC_SUPABASE_ANON_KEY === env.SUPABASE_ANON_KEY, env.EDGE_URL)`,
    {
      env: { OPENAI_API_BASE: 'https://api.openai.com/v1', EDGE_URL: 'https://abc.supabase.co/functions/v1' },
      files: {
        '.env.local': 'NEXT_PUBLIC_SUPABASE_URL=https://abc.supabase.co\nNEXT_PUBLIC_SUPABASE_ANON_KEY=live\n',
        'apps/web/.env': 'VITE_SUPABASE_URL=https://abc.supabase.co\n',
        'platform.config.yaml': 'env: { MY_URL: supabaseUrl }\n',
      },
      flags: ['--summary', 'summary.md'],
    },
  )
  const { stdout, stderr } = await ended
  expect(stdout).toBe('true\ntrue true https://abc.supabase.co/functions/v1\n')
  const [elsewhere, advice] = stderr.split('\n')
  expect(elsewhere).toBe('Still at https://abc.supabase.co: EDGE_URL (the environment)')
  expect(advice).toContain('env: { EDGE_URL: unchanged }')
  expect(readFileSync(path.join(dir, 'summary.md'), 'utf8')).toContain(elsewhere)
})

test.skipIf(process.platform === 'win32')('the configuration is read once, and may be a pipe', async () => {
  const pipe = path.join(folderWith(), 'config')
  execFileSync('mkfifo', [pipe])
  const [{ stdout }] = await Promise.all([
    exec(`${shell}echo "$OPENAI_API_KEY"\n`, { flags: ['--config', pipe] }).ended,
    writeFile(pipe, 'apiKeys: [{ name: app, key: sk-local-from-a-pipe-0123456789 }]\n'),
  ])
  expect(stdout).toBe('sk-local-from-a-pipe-0123456789\n')
})

test('everything after -- belongs to the child, flags included', async () => {
  expect(await lineOf(['exec', '--port', '1', '--', 'npm', 'test', '--', '--port', '2'])).toMatchObject({
    name: 'exec',
    args: [],
    child: ['npm', 'test', '--', '--port', '2'],
    overrides: [{ path: ['port'], value: 1, origin: '--port' }],
  })
})

const withTerminator = (rest: string) =>
  `Put -- before the command, so that its flags are not read as flags of standin: standin exec ${rest}.`

test.each([
  [['exec'], 'standin exec needs a command: standin exec -- npm test.'],
  [['exec', '--'], 'standin exec needs a command: standin exec -- npm test.'],
  [['exec', 'npm', 'test', '--watch'], withTerminator('-- npm test --watch')],
  [['exec', '--mode', 'replay', 'npm', 'test', '--', '-u'], withTerminator('--mode replay -- npm test -- -u')],
  [['exec', 'node', '--version'], withTerminator('-- node --version')],
  [['exec', 'node', '-e', 'run("it")'], withTerminator(`-- node -e 'run("it")'`)],
  [['exec', 'npm test'], withTerminator('-- npm test')],
])('%j is refused in a sentence', async (args, sentence) => {
  expect(await runInProcess(args)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: `${sentence} See standin exec --help.\n`,
  })
})

test('an invalid configuration keeps the child from running', async () => {
  const { args, files } = child('import { writeFileSync } from "node:fs"; writeFileSync("ran", "")')
  const dir = folderWith({ ...files, 'platform.config.yaml': 'prot: 1\n' })
  const env = { PATH: process.env.PATH }
  expect(await runHere(['exec', ...args], { dir, env, input: undefined })).toMatchObject({ code: 2, stdout: '' })
  expect(existsSync(path.join(dir, 'ran'))).toBe(false)
})

test('the exit code of the child is passed on', async () => {
  expect(await execHere('process.exit(42)')).toMatchObject({ code: 42, stderr: '' })
})

test('a killed child gives the exit code that a shell would give', async () => {
  expect(await execHere('process.kill(process.pid, "SIGKILL")')).toMatchObject({ code: 137, signal: null })
})

test.each([
  [['not-a-command'], 127, 'standin exec: not-a-command was not found.\n'],
  [
    ['npm test'],
    127,
    'standin exec: npm test was not found. Write it without quotes around all of it: standin exec -- npm test\n',
  ],
  [['./script'], 126, 'standin exec: ./script cannot be run (EACCES).\n'],
  [['./script/deeper'], 126, 'standin exec: ./script/deeper cannot be run (ENOTDIR).\n'],
])('%j cannot be started, with the exit code and the message of a shell', async (command, code, stderr) => {
  expect(await runInProcess(['exec', '--', ...command], { files: { script: '' } })).toMatchObject({
    code,
    stderr,
    stdout: '',
  })
})

test('standard input and output belong to the child', async () => {
  expect(await run(['exec', '--', 'cat'], { input: 'through\n' })).toMatchObject({ code: 0, stdout: 'through\n' })
})

const askingHealth = `${shell}curl -s "$PLATFORM_BASE_URL/health"`

test('--verbose logs requests on standard error, not on standard output', async () => {
  expect(await execHere(askingHealth, { flags: ['--verbose'] })).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringMatching(/ GET {2}\/health +200 .*\n {2}< \d+ B\n {4}\{\n {6}"status": "ok",\n/),
  })
})

test('several commands run at once, each with its own platform, and leave nothing behind', async () => {
  // As `standin init` writes them.
  const files = { 'platform.config.yaml': 'port: 4100\nstate: file:.standin/state.db\n' }
  const commands = [1, 2, 3].map(() => exec(`${printingAddress}exec sleep 100`, { files }))
  const urls = await Promise.all(commands.map(({ stdout }) => stdout.next('http')))
  expect(new Set(urls).size).toBe(3)
  for (const url of urls) expect((await fetch(`${url}/health`)).status).toBe(200)
  for (const { send } of commands) send('SIGTERM')
  for (const { ended } of commands) expect(await ended).toMatchObject({ code: 143, signal: null, stderr: '' })
  await Promise.all(urls.map(isGone))
})

test('a stream that is no longer read does not delay the exit', async () => {
  const end = execHere(`
    const { OPENAI_BASE_URL, OPENAI_API_KEY } = process.env
    await fetch(OPENAI_BASE_URL + '/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer ' + OPENAI_API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content: 'standin:slow' }] }),
    })
    process.exit(3)`)
  expect(await end).toMatchObject({ code: 3, stderr: '' })
})

test('a signal is passed to the child, which chooses how to exit', async () => {
  const { send, stdout, ended } = exec(
    `process.on('SIGTERM', (_, number) => { console.log('told'); process.exitCode = number + 50; clearInterval(stay) })
    const stay = setInterval(() => {}, 1000)
    console.log('up')`,
  )
  await stdout.next('up')
  send('SIGTERM')
  expect(await ended).toMatchObject({ code: 65, stdout: 'up\ntold\n' })
})

test('a child that ignores SIGTERM keeps its platform until a second SIGTERM', async () => {
  const { send, stdout, ended } = exec(
    `process.on('SIGTERM', () => console.log('not now')); setInterval(() => console.log('tick'), 100); ${staying}`,
  )
  const url = await stdout.next('http')
  send('SIGTERM')
  await stdout.next('not now')
  expect((await fetch(`${url}/health`)).status).toBe(200)
  // Three ticks are 300 ms: long enough to be a new signal and not the echo of the first.
  for (let i = 0; i < 3; i++) await stdout.next('tick')
  send('SIGTERM')
  expect(await ended).toMatchObject({ code: 137 })
  await isGone(url)
})

test('a signal that arrives twice at once, as with a process group, does not kill the child', async () => {
  const { send, stdout, ended } = exec(
    `process.on('SIGTERM', () => setTimeout(() => process.exit(5), 100)); ${staying}`,
  )
  await stdout.next('http')
  send('SIGTERM')
  send('SIGTERM')
  expect(await ended).toMatchObject({ code: 5 })
})

test.skipIf(process.platform === 'win32')(
  'a signal that arrives before the child starts keeps it from starting',
  async () => {
    const dir = folderWith({ 'config.yaml': '{}\n' })
    const pipe = path.join(dir, 'pipe')
    execFileSync('mkfifo', [pipe])
    const { send, ended } = exec('console.log("ran")', { flags: ['--config', pipe] })
    // Resolves when the command opens the configuration; its read then waits for the writer.
    const writer = await open(pipe, 'w')
    await rename(path.join(dir, 'config.yaml'), pipe)
    send('SIGTERM')
    await writer.close()
    expect(await ended).toEqual({ code: 143, signal: null, stdout: '', stderr: '' })
  },
)

test.runIf(hasTerminals)('Ctrl-C reaches the child once, from the terminal', async () => {
  const { args, files } = child(`
    let told = 0
    process.on('SIGINT', () => { if (++told === 1) setTimeout(() => { console.log('told', told); process.exit(6) }, 200) })
    setInterval(() => {}, 1000)
    console.log('up')`)
  const terminal = startOnTerminal(['exec', ...args], { files })
  await terminal.shows('up')
  terminal.type('\u0003')
  expect(await terminal.ended).toBe(6)
  expect(terminal.screen).toContain('told 1')
})

/** A program that sends these prompts and prints each status. It uses curl, since Node and its fetch take ten times as long to start. */
const asking = (...prompts: readonly string[]) => {
  const requests = prompts.map(content => {
    const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] })
    return `curl -s -o answer -w '%{http_code}\\n' "$OPENAI_BASE_URL/chat/completions" \\
      -H "authorization: Bearer $OPENAI_API_KEY" -H 'content-type: application/json' -d '${body}'\n`
  })
  return shell + requests.join('')
}

/** A folder with recordings of these prompts. */
const recorded = (...prompts: readonly string[]): Promise<string> => recordedIn(folderWith(), prompts)

const shared = folderWith({}, afterAll)
/** Shared by all tests that only read it. */
const helloAndGoodbye = once(() => recordedIn(shared, ['hello', 'goodbye']))

async function recordedIn(folder: string, prompts: readonly string[]): Promise<string> {
  const live = await platformWith()
  const dir = path.join(folder, 'recordings')
  const upstream = { baseUrl: live.url, apiKey: live.apiKey }
  const recorder = await platformWith({ mode: 'record', upstream, recordings: { dir } })
  for (const content of prompts) {
    const { status } = await recorder.chat({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] })
    expect(status).toBe(200)
  }
  await recorder.stop()
  await live.stop()
  return dir
}

test.each([
  ['a miss is reported and does not fail the run', ['hello', 'who?'], [], 0],
  ['--strict fails the run on a miss', ['hello', 'who?'], ['--strict'], 1],
  ['--strict-unused fails the run on an unused recording', ['hello'], ['--strict-unused'], 1],
  [
    '--strict-unused accepts a run that used everything and missed nothing',
    ['hello', 'goodbye'],
    ['--strict-unused'],
    0,
  ],
  ['--quiet does not hide why it failed', ['who?'], ['--strict', '--quiet'], 1],
] as const)('%s', async (_, prompts, flags, code) => {
  const recordings = await helloAndGoodbye()
  const end = await execHere(asking(...prompts), { flags: ['--mode', 'replay', '--recordings', recordings, ...flags] })
  const missed = prompts.filter(prompt => prompt === 'who?').length
  expect(end).toMatchObject({ code, stderr: expect.stringContaining(`${missed} missed`) })
  expect(end.stderr.includes(missOf('POST', '/v1/chat/completions'))).toBe(missed > 0)
})

test('misses print advice once: which folder, whether it is empty, and a command to copy', async () => {
  const { args, files } = child(silenced(asking('one', 'two')))
  const dir = folderWith(files)
  const { stderr } = await runHere(['exec', '--mode', 'replay', ...args, "it's $HERE"], { ...here, dir })
  const folder = path.join(dir, 'fixtures/recordings')
  const advice = [
    `→ ${folder} has no recordings. Record what is missing:`,
    `    standin exec --mode record --upstream URL -- sh child.sh 'it'\\''s $HERE'`,
    '  Or emulate missing answers: --on-miss emulate.',
  ]
  expect(stderr.split(advice.join('\n'))).toHaveLength(2)
})

test('the command to copy records into the folder that was replayed, from the same platform', async () => {
  const flags = [
    '--mode',
    'replay',
    '--config',
    'my.yaml',
    '--recordings',
    'my tape',
    '--upstream',
    'http://127.0.0.1:9',
  ]
  const { stderr } = await execHere(asking('one'), { flags, files: { 'my.yaml': 'seed: 1\n' } })
  const kept = "--config my.yaml --upstream http://127.0.0.1:9 --recordings 'my tape'"
  expect(stderr).toContain(`    standin exec --mode record ${kept} -- sh child.sh`)
})

test('the exit code of a failed child wins over that of --strict', async () => {
  const dir = await recorded('hello')
  const flags = ['--mode', 'replay', '--recordings', dir, '--strict']
  expect(await execHere(`${asking('who?')}exit 9`, { flags })).toMatchObject({ code: 9 })
})

test('--strict in a mode without recordings is refused, with a hint to set the mode', async () => {
  expect(await runInProcess(['exec', '--strict', '--', 'true'])).toMatchObject({
    ...{ code: 2, stdout: '' },
    stderr: '--strict checks recordings, and mode emulate uses none. Add --mode replay. See standin exec --help.\n',
  })
})

test('the child does not get the live keys', async () => {
  const live = await platformWith()
  const env = {
    STANDIN_UPSTREAM_BASE_URL: live.url,
    STANDIN_UPSTREAM_API_KEY: live.apiKey,
    LIVE_ANON: 'live-anon',
    NONE: '',
  }
  const { stdout } = await exec(`${shell}env | grep -o -E '^(STANDIN_UPSTREAM|LIVE|NONE)[A-Z_]*'`, {
    flags: ['--mode', 'proxy'],
    files: { 'platform.config.yaml': `upstream: { anonKey: "\${LIVE_ANON}" }\n` },
    env,
  }).ended
  expect(stdout.split('\n').toSorted()).toEqual(['', 'NONE', 'STANDIN_UPSTREAM_BASE_URL'])
})

test('a run that only records has no unused recordings', async () => {
  const live = await platformWith()
  const dir = await recorded('hello')
  const env = { STANDIN_UPSTREAM_BASE_URL: live.url, STANDIN_UPSTREAM_API_KEY: live.apiKey }
  const flags = ['--mode', 'record', '--recordings', dir, '--strict-unused']
  expect(await execHere(asking('goodbye'), { flags, env })).toMatchObject({ code: 0 })
})

test('closing the terminal ends the child', async () => {
  const { stdout, send, ended } = exec(`process.on('SIGTERM', () => process.exit(7)); ${staying}`)
  const url = await stdout.next('http')
  send('SIGHUP')
  expect(await ended).toMatchObject({ code: 7, signal: null })
  await isGone(url)
})

/** Records these prompts with mode record into a folder that has recordings of "hello" and "goodbye". */
async function recordedAgain(prompts: readonly string[], flags: readonly string[] = [], ending = '') {
  const live = await platformWith()
  const { args, files } = child(silenced(`${asking(...prompts)}${ending}`))
  const tape = filesOf(recording({ prompt: 'hello' }), recording({ prompt: 'goodbye' }))
  const dir = folderWith({ ...files, ...tape, 'platform.config.yaml': `upstream: { apiKey: ${live.apiKey} }\n` })
  const end = await runHere(['exec', '--mode', 'record', '--upstream', live.url, ...flags, ...args], { ...here, dir })
  return { ...end, names: await namesIn(dir) }
}

test('a run that records names the recordings of the same endpoints that it did not ask for', async () => {
  const { stderr, names } = await recordedAgain(['hello'])
  expect(stderr).toMatch(
    /Not asked for in this run \(if all tests ran, --whole --prune removes them\): 2 recordings\n {2}chat-completions\/goodbye-/,
  )
  expect(names).toHaveLength(3)
})

test('--whole --prune removes what a recording run did not ask for, if that is at most half of the folder or there is a yes', async () => {
  const { stderr: refused, names: kept } = await recordedAgain(['hello'], ['--whole', '--prune'])
  expect(refused).toContain(
    '2 of 3 recordings would be removed, more than half of the folder. Add --yes if that is right.',
  )
  expect(kept).toHaveLength(3)
  const { code, stderr, names } = await recordedAgain(['hello'], ['--whole', '--prune', '--yes'])
  expect(code).toBe(0)
  expect(stderr).toContain('Removed, because these tests no longer ask for them: 2 recordings\n')
  expect(names).toEqual([expect.stringContaining('hello')])
})

test('--prune removes nothing if the command failed, since it may not have asked for everything', async () => {
  const { code, stderr, names } = await recordedAgain(['hello'], ['--whole', '--prune', '--yes'], 'exit 3\n')
  expect(code).toBe(3)
  expect(stderr).toContain('Nothing was pruned, because the run failed')
  expect(names).toContainEqual(expect.stringContaining('goodbye'))
})

test('--prune needs a run that records', async () => {
  const { code, stderr } = await runInProcess(['exec', '--mode', 'replay', '--prune', '--', 'true'])
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('mode replay records nothing. After a replay: standin recordings prune --unused.'),
  })
})

test('the receipt counts recorded errors by status', async () => {
  const answers = [429, 429, 503, 200]
  const live = await liveWith((_request, response) => void response.writeHead(answers.shift() ?? 200).end('{}'))
  const flags = ['--mode', 'record', '--upstream', live.url]
  const { stderr } = await execHere(asking('one', 'two', 'three', 'four'), { flags })
  expect(stderr).toContain('4 forwarded to the live platform, 4 recorded, of them 3 errors: 429 (2), 503 (1).\n')
})

test('a replay does not pause where the live platform did', async () => {
  const slow = recording({ prompt: 'hello' })
  const files = filesOf({ ...slow, response: { ...slow.response, headMs: 36_000_000 } })
  const program = asking('hello').replaceAll('gpt-4o-mini', 'gpt-4o')
  expect(await execHere(program, { flags: ['--mode', 'replay', '--strict'], files })).toMatchObject({ code: 0 })
})

test('--summary appends the requests, the misses by cause, and unused recordings, as Markdown that nothing in them can break', async () => {
  const live = await platformWith()
  const dir = folderWith({
    record: silenced(asking('One', 'Two')),
    replay: silenced(asking('One', 'Three\n```\n# not a title', 'Three\n```\n# not a title')),
    'platform.config.yaml': `upstream: { baseUrl: '${live.url}', apiKey: '${live.apiKey}' }\n`,
    'summary.md': 'before\n',
  })
  const exec = (mode: string) =>
    runHere(['exec', '--mode', mode, '--summary', 'summary.md', '--', 'sh', mode], { ...here, dir })
  await exec('record')
  await exec('replay')
  const [before, recorded, replayed = ''] = readFileSync(path.join(dir, 'summary.md'), 'utf8').split(/^### /m)
  expect(before).toBe('before\n')
  expect(recorded).toContain('Standin: mode record, exit code 0')
  expect(recorded).toContain('| `POST /v1/chat/completions` | 2 | 0 |')
  expect(replayed).toContain('| `POST /v1/chat/completions` | 3 | 2 |')
  expect(replayed).toMatch(/Misses: 1<.*````text\n.*1 more request missed in the same way.*\n````/s)
  expect(replayed).toMatch(/Unused recordings: 1<.*two-\w+\.yaml/s)
})

test('of many different misses, the first few are shown and the others counted', async () => {
  const dir = await recorded('hello')
  const { stderr } = await execHere(asking('a', 'b', 'c', 'd', 'e', 'f', 'g'), {
    flags: ['--mode', 'replay', '--recordings', dir],
  })
  expect(stderr.match(/^No recording matches/gm)).toHaveLength(5)
  expect(stderr).toContain('2 more requests missed in other ways.\n')
  // What was not asked for because of them is not listed.
  expect(stderr).not.toContain('Unused')
})
