/** What goes with what, cell by cell: the tests of each runner, alone and below `standin exec`, in each mode, with one worker and with several. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { writeInto } from '../command.js'
import { hasPackage } from '../package/apps.js'
import { isRefused, modes, type Row, table } from './matrix.js'
import { LIVE_KEY, type Project, projects, recordingsOf } from './project.js'
import { ALL_REQUESTS, REQUESTS, runners } from './runners.js'

const project = projects()

/** Starts up to nine runs of a runner, each of several processes: a minute of an idle machine, and four of a busy one. */
const timeout = 400_000

const own = "1 answered by the tests' own replies."

/** Runs the tests as a row says. */
function runOf({ alone, beside, exec }: Project, { runner, isBelowExec }: Row) {
  return (mode: string, workers: number, flags: readonly string[] = [], files: readonly string[] = []) => {
    if (isBelowExec) return exec(['--mode', mode, ...flags], { workers, files })
    if (runner === 'HTTP') return beside(['--mode', mode], { workers, files })
    return alone({ workers, files, env: { STANDIN_MODE: mode } })
  }
}

const cells: Readonly<Record<(typeof modes)[number], (given: Project, row: Row) => Promise<void>>> = {
  async emulate(given, row) {
    // The adversary begins with a run in this mode, without any fault.
    if (row.isBelowExec) return
    given.forget()
    const asked = given.live.asked()
    const { code, output } = await runOf(given, row)('emulate', 1, [], ['search'])
    expect(code, output).toBe(0)
    expect(given.live.asked()).toBe(asked)
  },
  async record(given, row) {
    given.forget()
    const asked = given.live.asked()
    const { code, output } = await runOf(given, row)('record', 2, row.isBelowExec ? ['--summary', 'summary.md'] : [])
    expect(code, output).toBe(0)
    expect(given.live.asked()).toBe(asked + REQUESTS)
    // Whoever records them again, they have the same names.
    expect(recordingsOf(given.app)).toHaveLength(REQUESTS)
    expectCounts(output, row, `${REQUESTS} forwarded to the live platform, ${REQUESTS} recorded, ${own}`)
    const written = filesIn(given.app.dir)
    if (row.isBelowExec)
      expect(written.get('summary.md')).toContain(`| \`POST /v1/chat/completions\` | ${ALL_REQUESTS} | 0 |`)
    // The key goes from process to process, and nowhere else.
    const withKey = [...written].filter(([, text]) => text.includes(LIVE_KEY))
    expect(withKey.map(([name]) => name)).toEqual(['platform.config.yaml'])
  },
  // Each test compares what it hears with what it has heard from the live platform.
  async replay(given, row) {
    const asked = given.live.asked()
    const { code, output } = await runOf(given, row)('replay', 1, ['--strict-unused', '--whole'])
    expect(code, output).toBe(0)
    expect(given.live.asked()).toBe(asked)
    expectCounts(output, row, `${REQUESTS} served, 0 missed, 0 unused, 0 forwarded to the live platform, ${own}`)
  },
  async adversary({ exec, standin, forget, live }, { isBelowExec, cells: { adversary } }) {
    forget()
    const asked = live.asked()
    const flags = ['--adversary', '--faults', 'status-400', '--max-runs', '1']
    const { code, output } = await (isBelowExec ? exec(flags, { files: ['search'] }) : standin(...flags))
    if (isRefused(adversary)) expect(output).toContain('The flag --adversary belongs to standin exec.')
    else expect(output).toMatch(/status-400 +handled/)
    expect(code, output).toBe(isRefused(adversary) ? 2 : 0)
    expect(live.asked()).toBe(asked)
  },
}

/** The texts of what is in a folder, apart from packages. */
const filesIn = (dir: string) =>
  new Map(
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && !entry.parentPath.includes('node_modules'))
      .map(({ parentPath, name }) => [
        path.relative(dir, path.join(parentPath, name)),
        readFileSync(path.join(parentPath, name), 'utf8'),
      ]),
  )

/** A part of the tests judges its own recordings, and --whole all of them. */
async function expectParts({ exec, forget }: Project): Promise<void> {
  forget()
  const flags = ['--mode', 'replay', '--strict-unused']
  const part = await exec(flags, { files: ['orders'] })
  expect(part.code, part.output).toBe(0)
  const whole = await exec([...flags, '--whole'], { files: ['orders'] })
  expect(whole.code, whole.output).toBe(1)
  expect(whole.output).toContain('6 served, 0 missed, 6 unused')
}

function expectCounts(output: string, { runner, isBelowExec }: Row, counts: string): void {
  if (isBelowExec) expect(output.split(`Recordings: ${counts}`)).toHaveLength(2)
  else if (runner !== 'HTTP') expect(output).toContain('each file counts for itself, so nothing is summed up.')
}

/** With other versions, only jest, which has one there alone. */
const isHere = (runner: keyof typeof runners) =>
  runner === 'jest' ? hasPackage('jest') : process.env.CLIENTS === undefined
const story = test.runIf(process.env.CLIENTS === undefined)

for (const runner of Object.keys(runners) as (keyof typeof runners)[]) {
  const rows = table.filter(row => row.runner === runner)
  test.runIf(isHere(runner))(
    `${runner}: what the table says of each mode is so, alone and below exec`,
    { timeout },
    async () => {
      const given = await project(runner)
      expect(rows.map(({ isBelowExec }) => isBelowExec)).toEqual([false, true])
      for (const row of rows) for (const mode of modes) await cells[mode](given, row)
      if (runner === 'node:test') await expectParts(given)
    },
  )
}

story('a file that was killed is named, and nothing of its tests is removed', async () => {
  const { app, exec } = await project('node:test')
  await exec(['--mode', 'record'], { files: ['orders'] })
  const file = path.join(app.dir, 'tests/orders.test.mjs')
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace("await converse('orders two')", "process.kill(process.pid, 'SIGKILL')"))
  const { code, output } = await exec(['--mode', 'record'], { files: ['orders', 'search'] })
  expect(code).toBe(1)
  expect(output).toContain('1 file did not report: tests/orders.test.mjs. Was it ended?')
  expect(output).not.toContain('Removed')
  expect(recordingsOf(app)).toHaveLength(12)
})

story('what tests that are gone have recorded is pruned after a whole run, however many processes it had', async () => {
  const { app, exec, standin } = await project('node:test')
  await exec(['--mode', 'record'], { workers: 2 })
  rmSync(path.join(app.dir, 'tests/search.test.mjs'))
  await exec(['--mode', 'replay'], { workers: 2 })
  expect((await standin('recordings', 'prune', '--unused')).output).toBe('0 files removed.\n')
  const { code, output } = await standin('recordings', 'prune', '--unused', '--whole')
  expect(code, output).toBe(0)
  expect(recordingsOf(app)).toHaveLength(REQUESTS - 6)
})

story(
  'startPlatform in a script takes part in the run of exec, which fails for what the script has found',
  async () => {
    const { app, standin, live } = await project('node:test')
    const script = `import { startPlatform } from 'standin'
import { ask } from './ask.mjs'
const platform = await startPlatform()
console.log(await platform.mode, await ask('hello', { url: platform.url + '/v1', key: platform.apiKey }))
await fetch(platform.url + '/health')
await platform.stop()
`
    writeInto(app.dir, { 'script.mjs': script })
    const flags = ['--mode', 'record', '--fail-on-violation']
    const { code, output } = await standin('exec', ...flags, '--', process.execPath, 'script.mjs')
    expect(code, output).toBe(1)
    expect(output).toMatch(/^record Answer 1/m)
    expect(output).toMatch(/GET \/health 401.* violates the contract/)
    expect(output).toContain('Recordings: 2 forwarded to the live platform, 2 recorded')
    expect(live.asked()).toBe(1)
  },
)

story('an exec below another one says that it is a run of its own', async () => {
  const { standin } = await project('HTTP')
  const inner = [process.execPath, 'node_modules/standin/dist/cli.js', 'exec', '--', process.execPath, '-e', '0']
  const { output } = await standin('exec', '--', ...inner)
  expect(output).toContain('This standin exec runs below another one.')
})
