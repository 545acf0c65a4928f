/** `exec --receipt` and `standin receipt`: shards in folders of their own, joined and judged as one run. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { once } from '../../src/core/work.js'
import { folderWith, writeInto } from '../command.js'
import { liveWith, saying } from '../recordings/live.js'
import { runHere } from '../run-here.js'

/** Asks questions, each for a test or, without a name before the colon, for none. It uses curl, since Node and its fetch take ten times as long to start. */
const asking = `
failed=
for one in "$@"; do
  system=
  [ -z "$SYSTEM" ] || system='{"role":"system","content":"'$SYSTEM'"},'
  # Without a value, curl leaves the header out.
  curl -sf -o answer "$OPENAI_BASE_URL/chat/completions" \\
    -H "authorization: Bearer $OPENAI_API_KEY" -H 'content-type: application/json' -H "x-standin-scope: \${one%%:*}" \\
    -d '{"model":"gpt-4o-mini","messages":['"$system"'{"role":"user","content":"'"\${one#*:}"'"}]}' || failed=yes
done
[ "$STRICT$failed" != yesyes ] || exit 1
exit "\${CODE:-0}"
`

interface Shard {
  readonly flags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Where the recordings come from. */
  readonly like?: string
  readonly config?: string
}

/** Runs a shard in a checkout of its own; its receipt is `receipt.json`. */
async function shard(asks: readonly string[], { flags = ['--mode', 'replay'], env = {}, like, config }: Shard = {}) {
  const dir = folderWith({ 'child.sh': asking, 'package.json': '{}', 'fixtures/recordings/.gitkeep': '' })
  if (like !== undefined) cpSync(path.join(like, 'fixtures'), path.join(dir, 'fixtures'), { recursive: true })
  if (config !== undefined) writeInto(dir, { 'platform.config.yaml': config })
  const args = ['exec', ...flags, '--receipt', 'receipt.json', '--', 'sh', 'child.sh', ...asks]
  const end = await runHere(args, { dir, env: { PATH: process.env.PATH, ...env }, input: undefined })
  return { ...end, dir, receipt: path.join(dir, 'receipt.json') }
}

type Ended = Awaited<ReturnType<typeof shard>>

/** Joins receipts on another machine. */
const joined = (files: readonly string[], ...flags: readonly string[]) =>
  runHere(['receipt', ...flags, ...files], { dir: folderWith(), env: {}, input: undefined })

const receiptsOf = (shards: readonly Ended[]) => shards.map(({ receipt }) => receipt)

/** Four shards; the first question of nobody is asked in two of them. */
const asks = [['one:hello', ':who', ':who'], ['two:hello', ':who'], ['three:hello', 'three:bye'], []] as const

/** What the four record, and all of it together in a folder. */
async function recordAll(folder = folderWith()) {
  const live = await liveWith(saying({ object: 'chat.completion', choices: [] }))
  const flags = ['--mode', 'record', '--upstream', live.url]
  const all: Ended[] = []
  for (const own of asks) all.push(await shard(own, { flags }))
  for (const { dir } of all) cpSync(path.join(dir, 'fixtures'), path.join(folder, 'fixtures'), { recursive: true })
  return { all, folder }
}

/** Shared by all tests that only read it. */
const shared = folderWith({}, afterAll)
const recorded = once(async () => (await recordAll(shared)).folder)

test('four shards in four folders record and replay, and are judged as one run, in any order', async () => {
  const { all, folder } = await recordAll()
  // The last one has no test.
  expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 0])
  const ofRecording = await joined(receiptsOf(all))
  expect(ofRecording).toMatchObject({ code: 0, stdout: expect.stringContaining('7 recorded') })

  const strict = { flags: ['--mode', 'replay', '--strict-unused'], like: folder }
  const replayed: Ended[] = []
  for (const own of asks) replayed.push(await shard(own, strict))
  expect(replayed.map(({ code }) => code)).toEqual([0, 0, 0, 0])
  // A shard without tests uses nothing.
  expect(replayed[3]?.stderr).toContain('standin receipt judges all of them.')
  const files = receiptsOf(replayed)
  const end = await joined(files)
  expect(end.stdout).toContain('Recordings: 7 served, 0 missed, 0 unused, 0 forwarded to the live platform.')
  expect(end.code).toBe(0)
  expect(await joined(files.toReversed())).toEqual(end)

  // A test asks one question less, and another test is gone.
  const less = await shard(['three:hello'], strict)
  const rest = [files[0], files[1], files[3], less.receipt].flatMap(file => file ?? [])
  const unused = await joined(rest)
  expect(unused.code).toBe(1)
  expect(unused.stdout).toMatch(/1 unused[\s\S]*Unused[\s\S]*bye-/)
  const gone = rest.filter(file => file !== files[0])
  expect((await joined(gone)).stdout).toContain('1 unused')
  const whole = await joined(gone, '--whole')
  expect(whole.stdout).toMatch(/3 unused[\s\S]*hello-/)
})

test('what fails one shard fails the whole: a miss, a budget, a changed prompt, its command', async () => {
  const like = await recorded()
  const fine = await shard(['one:hello'], { like })
  const missing = await shard(['two:why'], { like })
  const failing = await shard(['two:hello'], { like, env: { CODE: '7' } })
  const changed = await shard(['two:hello'], {
    like,
    env: { SYSTEM: 'Be brief.' },
    flags: ['--mode', 'replay', '--on-miss', 'nearest'],
  })
  const spending = await shard(['two:hello', 'two:hello'], { like, config: 'recordings: { budget: { calls: 1 } }\n' })
  expect(await joined([fine.receipt, missing.receipt])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 missed'),
  })
  const summary = path.join(folderWith(), 'summary.md')
  const missed = await joined([fine.receipt, missing.receipt], '--strict', '--summary', summary)
  expect(missed.code).toBe(1)
  expect(missed.stderr).toContain('nearest is chat-completions/who-')
  expect(readFileSync(summary, 'utf8')).toMatch(
    /\| `POST \/v1\/chat\/completions` \| 2 \| 1 \|[\s\S]*<summary>Misses: 1<\/summary>/,
  )
  expect((await joined([fine.receipt, failing.receipt])).code).toBe(7)
  const accepting = await joined([fine.receipt, changed.receipt])
  expect(accepting.code).toBe(1)
  expect(accepting.stdout).toMatch(/1 request differs in messages[\s\S]*after a run with --on-miss nearest here/)
  const over = await joined([fine.receipt, spending.receipt, failing.receipt], '--json')
  expect(over.code).toBe(7)
  expect(over.stdout).toMatch(/"event":"budget","sentence":"scope/)
})

test('what the adversary finds in shards is one report', async () => {
  const strict = { flags: ['--adversary', '--faults', 'status-503'], env: { STRICT: 'yes' } }
  const [one, two] = [await shard(['one:hello'], strict), await shard(['two:bye'], strict)]
  const end = await joined(receiptsOf([one, two]))
  expect([one.code, two.code, end.code]).toEqual([1, 1, 1])
  expect(end.stdout).toMatch(/^\nPOST.*"\w+"\n.*failed[\s\S]*\nPOST[\s\S]*failed[\s\S]*2 runs with a fault: 2 bugs/)
})

test('a file that cannot be a part of the run is refused by its name, and all of them at once', async () => {
  const like = await recorded()
  const { receipt, dir } = await shard(['one:hello'], { like })
  const text = readFileSync(receipt, 'utf8')
  const value = JSON.parse(text)
  const files = {
    'config.json': '{ "port": 4100 }',
    'cut.json': text.slice(0, 200),
    'damaged.json': JSON.stringify({ ...value, result: { ...value.result, exitCode: 'none' } }),
    'killed.json': JSON.stringify({ ...value, result: undefined }),
    'newer.json': JSON.stringify({ ...value, standin: '9.0.0', standinReceipt: 2 }),
    'other.json': JSON.stringify({ ...value, run: 'x', result: { ...value.result, folder: 'apps/a/recordings' } }),
    'receipt.json': text,
    'twice.json': text,
  }
  writeInto(dir, files)
  const { code, stderr } = await runHere(['receipt', ...Object.keys(files), 'nowhere.json'], {
    dir,
    env: {},
    input: undefined,
  })
  expect(code).toBe(2)
  expect(stderr.trim().split('\n')).toEqual([
    'config.json: is no receipt. standin exec --receipt FILE writes one.',
    'cut.json: is no receipt, or only a part of one: it is not JSON.',
    'damaged.json: is damaged: result.exitCode must be a whole number, not "none". Run it again.',
    'killed.json: is of a run that has not ended, or was killed. Run it again.',
    expect.stringMatching(/^newer\.json: is from Standin 9\.0\.0, whose receipts have another form/),
    'nowhere.json: cannot be read (ENOENT).',
    expect.stringMatching(/^receipt\.json: is about the recordings in fixtures\/recordings, and other\.json about/),
    'twice.json: is the same run as receipt.json. Give each run once.',
  ])
})

test('a run that was killed leaves a receipt that says so, and tests that ran twice are named', async () => {
  const like = await recorded()
  const one = await shard(['one:hello'], { like })
  const again = await shard(['one:hello'], { like })
  expect((await joined(receiptsOf([one, again]))).stderr).toMatch(
    /have a test in common, whose requests count twice\.\n/,
  )
  writeFileSync(one.receipt, '')
  expect((await joined([one.receipt])).stderr).toContain('is no receipt')
})
