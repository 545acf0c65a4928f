/** `standin exec -- <command>`: runs a command with its own platform in its environment. */
import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import path from 'node:path'
import { ignoreAdvice } from '../check/finding.js'
import { UsageError } from '../check/problem.js'
import { memoized } from '../core/work.js'
import { type Environment, environmentFor } from '../environment/index.js'
import { fastReplay, type LoadedConfig, loadConfig, type Override, RUN } from '../platform/config/load.js'
import { allOptions } from '../platform/config/options.js'
import { openPlatform, type Platform } from '../platform.js'
import type { Miss } from '../recordings/index.js'
import { adversaryFlags, listOfFaults, requireAdversary, startAdversary } from './adversary.js'
import type { AdversaryRun } from './adversary-report.js'
import { warningsOf } from './banner.js'
import { type CommandLine, command, configSources, fileName, runFlags, toggle } from './command.js'
import {
  conclude,
  createEventLog,
  type EventLog,
  EXIT_FAILED,
  type HowToConclude,
  logMessages,
  logProblems,
  logRequests,
  logUnknownPath,
  logUnknownPaths,
  logWarning,
} from './event-log.js'
import { colorsFor, pluralize } from './output.js'
import { acceptCommandOf, hasUnused, missAdvice, requireRecording, requireUsedFlags } from './receipt.js'
import type { RunResult } from './receipt-file.js'
import { checksOf, endOf, findingsOf, folderName, testsOf, watchRun, withoutRemoved } from './run-result.js'
import { ECHO_MS } from './stop-signals.js'
import { appendSummary } from './summary.js'

const execFlags = {
  ...runFlags,
  port: { ...runFlags.port, meaning: 'Port to listen on (any free port)' },
  state: { ...runFlags.state, meaning: 'Where state is kept: memory, file:PATH, postgres://… (memory)' },
  prune: toggle('Remove recordings that the tests which ran did not ask for'),
  yes: toggle('With --prune: also if that is more than half of the folder'),
  speed: { ...runFlags.speed, meaning: 'Speed of replay: 1 as recorded, 0 without pauses (0)' },
  json: { ...runFlags.json, meaning: 'Print events as JSON lines on standard error' },
  verbose: { ...runFlags.verbose, meaning: 'Log requests with their bodies on standard error' },
  summary: fileName('Append a summary of the run to FILE, as Markdown for the page of a CI job'),
  receipt: fileName('Write what the run did to FILE, for standin receipt'),
  ...adversaryFlags,
}

export const execCommands = {
  exec: command({
    flags: execFlags,
    examples: [
      ['standin exec -- npm test', 'run the tests against a temporary platform'],
      ['standin exec --mode record --prune -- npm test', 'record again, and remove what is no longer asked for'],
      ['standin exec --adversary -- npm test', 'find out what the app does wrong when calls fail'],
      ['standin exec --mode replay --strict -- npm test', 'fail if a request has no recording'],
    ],
    run: exec,
  }),
}

/** Returns the exit code. Only the child writes to standard output. Rejects with the errors of `openPlatform`. */
async function exec(line: CommandLine<typeof execFlags>): Promise<number> {
  const { child: program, flags, overrides } = line
  if (flags.adversary && flags.list) {
    process.stdout.write(`${listOfFaults()}\n`)
    return 0
  }
  if (program.length === 0) throw new UsageError('standin exec needs a command: standin exec -- npm test.')
  requireAdversary(flags)
  if (flags.adversary && flags.summary !== undefined)
    throw new UsageError('--summary is about one run. With --adversary, use --json, and send the report to a file.')
  const runChild = passSignals()
  const defaults = [fastReplay('standin exec')]
  const sources = { ...configSources(line), defaults, report: (error: unknown) => console.error(error) }
  const loaded = await loadConfig(sources)
  const temporary = temporaryOptions(loaded)
  const shared = { ...sources, flags: [...overrides, ...temporary], isSharingRun: true }
  const configured = withOptions(loaded, temporary)
  const platform = await openPlatform(shared, configured)
  requireUsedFlags(platform, flags)
  if (flags.prune) requireRecording(platform)
  const writeReceipt =
    flags.receipt === undefined ? undefined : (await import('./receipt-file.js')).beginReceipt(flags.receipt)
  if (platform.sharedRun) platform.sharedRun.isWhole = flags.whole
  const execution = { line, platform, runChild, writeReceipt }
  // What there is to warn of was said at the first one.
  const open = () => openPlatform({ ...shared, warn() {} }, configured)
  return flags.adversary ? runWithFaults(execution, open) : runOnce(execution)
}

interface Execution {
  readonly line: CommandLine<typeof execFlags>
  readonly platform: Platform
  readonly runChild: ReturnType<typeof passSignals>
  readonly writeReceipt: ((result: RunResult) => void) | undefined
}

/** Runs the command with each fault. `open` opens a platform for another run. */
async function runWithFaults({ line, platform, runChild, writeReceipt }: Execution, open: () => Promise<Platform>) {
  const { child: program, flags } = line
  for (const remark of environmentFor(platform).remarks) console.error(remark)
  const variablesFor = (other: Platform) => environmentOfChild(other, environmentFor(other))
  let findings: RunResult['findings'] = null
  const found = (run: AdversaryRun) => {
    findings = findingsOf(run)
  }
  const code = await runChild(() => startAdversary({ platform, open, program, variablesFor, flags, found }))
  const ofFindings = findings !== null && code === EXIT_FAILED
  writeReceipt?.({ ...emptyResult(platform, flags), exitCode: ofFindings ? 0 : code, findings })
  return code
}

async function runOnce(execution: Execution): Promise<number> {
  const { line, platform, runChild, writeReceipt } = execution
  const { child: program, flags } = line
  const environment = environmentFor(platform)
  // The child writes to the same terminal.
  const log = await createEventLog(flags, process.stderr)
  if (flags.verbose) {
    logRequests(platform, log, flags)
    logMessages(platform, log)
  }
  logProblems(platform, log, flags)
  const unknownPaths = logUnknownPaths(platform, log, { atEnd: true })
  const { requests, misses } = watchRun(platform, { keepsMisses: flags.receipt !== undefined })
  // JSON output is for programs, which need no advice.
  if (!flags.json) platform.onMiss(adviseOnMisses(platform, line))
  if (!flags.quiet) for (const warning of warningsOf(platform)) console.error(warning)
  if (process.env[RUN] !== undefined) console.error(BELOW_ANOTHER)
  const exitCode = await runChild(early =>
    early ? finishedChild(exitCodeOfSignal(early)) : startChild(program, environmentOfChild(platform, environment)),
  )
  await platform.stop()
  const result: RunResult = {
    ...emptyResult(platform, flags),
    ...testsOf(platform),
    ...{ exitCode, requests, misses, unknownPaths: Object.fromEntries(unknownPaths), elsewhere: environment.remarks },
    unusedOfAll: writeReceipt ? (platform.receipt(true)?.unused ?? []) : [],
  }
  return finish(execution, result, log)
}

/** Reports a result, tidies the recordings up, and writes the receipt. Returns the exit code. */
async function finish({ line: { flags }, platform, writeReceipt }: Execution, result: RunResult, log: EventLog) {
  const isPart = writeReceipt !== undefined && !flags.whole
  const hasFailed = concludeRun(result, log, { ...flags, isPart, acceptCommand: acceptCommandOf(flags) })
  const exitCode = result.exitCode === 0 && hasFailed ? EXIT_FAILED : result.exitCode
  if (flags.summary !== undefined) appendSummary(flags.summary, result, log, exitCode)
  if (result.receipt) {
    const { endRun } = await import('./after-run.js')
    const ended = { exitCode, isWhole: flags.whole, isPruning: flags.prune, isSure: flags.yes }
    const tidied = await endRun({ platform, log, ...ended })
    writeReceipt?.(withoutRemoved(result, tidied))
  } else writeReceipt?.(result)
  return exitCode
}

/** The result of a run that is not known yet beyond what the platform counts. */
const emptyResult = (platform: Platform, flags: CommandLine<typeof execFlags>['flags']): RunResult => ({
  ...endOf(platform, flags.whole),
  folder: folderName(path.resolve(platform.loaded.dir, platform.loaded.config.recordings.dir)),
  mode: platform.mode,
  exitCode: 0,
  checks: checksOf(flags),
  isWhole: flags.whole,
  violations: platform.violations.list(),
  ...{ unusedOfAll: [], misses: [], removed: [], requests: {}, unknownPaths: {} },
  ...{ notReported: [], ownOptions: {}, elsewhere: [], findings: null },
})

const BELOW_ANOTHER =
  'This standin exec runs below another one. They are two runs: the outer one does not count these requests, and its options have no effect here.'

const NOTHING_RECORDED =
  'Nothing was recorded: 0 requests were forwarded to the live platform. Does the command read OPENAI_BASE_URL or PLATFORM_BASE_URL?'

interface HowToConcludeRun extends Pick<HowToConclude, 'json' | 'acceptCommand'> {
  /** Whether it may be a part of a run, so that what is missing may be in another one. */
  readonly isPart?: boolean
}

/** Reports how a run went, and what its tests did otherwise than they were asked to. Returns whether it failed, apart from its command. */
export function concludeRun(result: RunResult, log: EventLog, { isPart = false, ...how }: HowToConcludeRun): boolean {
  const { checks, receipt, elsewhere } = result
  reportTests(result, log)
  const isNothingRecorded = result.mode === 'record' && receipt !== null && receipt.passed + receipt.own === 0
  if (isNothingRecorded && !isPart) log.problem({ event: 'nothing-recorded' }, ({ red }) => red(NOTHING_RECORDED))
  const own = isPart ? { ...checks, strictUnused: false } : checks
  const hasFailed = conclude(result, log, { ...how, checks: own }) || (isNothingRecorded && !isPart)
  for (const [sentence, count] of Object.entries(result.unknownPaths)) logUnknownPath(log, sentence, count)
  // Part of the receipt: what the command may have asked in place of the platform.
  if (elsewhere.length > 0)
    log.problem({ event: 'elsewhere', remarks: elsewhere }, ({ yellow }) => elsewhere.map(yellow).join('\n'))
  const isLeft = isNothingRecorded || (checks.strictUnused && receipt !== null && hasUnused(receipt))
  if (isPart && isLeft) logWarning(log, { event: 'judged-later' }, JUDGED_LATER)
  log.flush()
  return hasFailed
}

const JUDGED_LATER =
  'What is unused, or not recorded at all, does not fail this run, since others may be parts of the same: standin receipt judges all of them.'

/** Says which tests did not report, and which options they set themselves. */
function reportTests({ notReported, ownOptions }: RunResult, log: EventLog): void {
  const silent = `${pluralize(notReported.length, 'file')} did not report: ${notReported.join(', ')}. Was it ended?`
  if (notReported.length > 0) logWarning(log, { event: 'not-reported', files: notReported }, silent)
  for (const [setting, files] of Object.entries(ownOptions)) {
    const who = `${files.join(', ')} ${files.length === 1 ? 'sets' : 'set'}`
    logWarning(
      log,
      { event: 'set-by-tests', setting, files },
      `${who} ${setting}, which comes before the command line.`,
    )
  }
}

function adviseOnMisses({ loaded }: Platform, { child: program, flags }: CommandLine<typeof execFlags>) {
  const colors = colorsFor(process.stderr)
  // A recording with another date would be missed again tomorrow.
  const adviseIgnoring = memoized((advice: string) => console.error(colors.cyan(`→ ${advice}`)))
  let isAdvised = false
  return (miss: Miss) => {
    // The summary has the advice on what has changed, and what is recorded now needs none.
    if (miss.changed || loaded.config.recordings.onMiss === 'record') return
    if (miss.nearest?.ignore) adviseIgnoring(ignoreAdvice(miss.nearest.ignore))
    else if (!isAdvised) {
      isAdvised = true
      console.error(missAdvice(loaded, program, flags, miss, colors))
    }
  }
}

/** The app must never get a live key, so inherited ones are removed from its environment, whatever their names. */
function environmentOfChild(platform: Platform, { variables }: Environment): NodeJS.ProcessEnv {
  const { STANDIN_UPSTREAM_API_KEY: _apiKey, STANDIN_UPSTREAM_ANON_KEY: _anonKey, ...rest } = process.env
  const { apiKey, anonKey } = platform.loaded.config.upstream
  const isLive = (value = '') => value !== '' && [apiKey, anonKey].includes(value)
  return Object.fromEntries([
    ...Object.entries(rest).filter(([_name, value]) => !isLive(value)),
    ...variables,
    ...(platform.sharedRun ? [[RUN, platform.sharedRun.address]] : []),
  ])
}

/** Returns what runs the child. Called before the port opens, so that no signal can leave the child running alone. */
function passSignals() {
  let child: Pick<Child, 'ended' | 'send'> | undefined
  let early: NodeJS.Signals | undefined
  const pass = (signal: NodeJS.Signals) => {
    if (child) child.send(signal)
    else early ??= signal
  }
  process.on('SIGINT', pass)
  process.on('SIGTERM', pass)
  // The terminal is gone, so nothing could stop the child any more.
  process.on('SIGHUP', () => pass('SIGTERM'))
  /** Resolves with the exit code. `early` is a signal that came before, which the child gets too. */
  return (start: (early: NodeJS.Signals | undefined) => NonNullable<typeof child>): Promise<number> => {
    child = start(early)
    if (early) child.send(early)
    return child.ended
  }
}

/**
 * Options for a free port and a state in memory, so that several can run at once, unless others are configured. A
 * default that is only spelled out in the file, as in the file of `standin config init`, does not count as configured.
 */
function temporaryOptions({ config, originOf }: LoadedConfig): readonly Override[] {
  const own = { port: 0, state: 'memory' }
  return allOptions().flatMap(({ path, initial, variable }) => {
    const name = path.join('.')
    if (name !== 'port' && name !== 'state') return []
    const isChosen = config[name] !== initial || [`--${name}`, variable].includes(originOf(path))
    return isChosen ? [] : [{ path, value: own[name], origin: 'standin exec' }]
  })
}

/** The configuration as if these overrides had been read with the others. */
const withOptions = (loaded: LoadedConfig, overrides: readonly Override[]): LoadedConfig => ({
  ...loaded,
  config: { ...loaded.config, ...Object.fromEntries(overrides.map(({ path: [name], value }) => [name, value])) },
  originOf: option => overrides.find(({ path: [name] }) => name === option[0])?.origin ?? loaded.originOf(option),
})

/** A running command that has the terminal to itself. `ended` has its exit code, as a shell would report it. */
type Child = ReturnType<typeof startChild>

// Exit codes as in shells.
const NOT_FOUND = 127
const NOT_RUNNABLE = 126
const KILLED_BY = 128

const exitCodeOfSignal = (signal: NodeJS.Signals) => KILLED_BY + constants.signals[signal]

const finishedChild = (code: number) => ({ ended: Promise.resolve(code), send(_signal: NodeJS.Signals) {} })

/** If the command cannot be started, prints the reason and returns a child that has ended with an exit code. */
function startChild([command = '', ...args]: readonly string[], env: NodeJS.ProcessEnv) {
  const failed = (error: unknown) => reportStartFailure(command, error as NodeJS.ErrnoException)
  let child: ChildProcess
  try {
    child = spawn(command, args, { stdio: 'inherit', env })
  } catch (error) {
    // `spawn` throws some errors and emits others.
    return finishedChild(failed(error))
  }
  const ended = new Promise<number>(resolve => {
    child.once('exit', (code, signal) => resolve(signal ? exitCodeOfSignal(signal) : (code ?? 1)))
    child.on('error', error => {
      // A child that has started can only have refused a signal, and keeps running.
      if (child.pid === undefined) resolve(failed(error))
      else console.error(error.message)
    })
  })
  return { ended, send: signalSender(child) }
}

function signalSender(child: ChildProcess) {
  let firstTermMs: number | undefined
  return (signal: NodeJS.Signals) => {
    // Ctrl-C already reaches every process on the terminal.
    if (signal === 'SIGINT' && process.stdin.isTTY) return
    const nowMs = performance.now()
    if (signal === 'SIGTERM') firstTermMs ??= nowMs
    // A signal to the whole process group arrives twice: directly, and forwarded.
    const isImpatient = firstTermMs !== undefined && nowMs - firstTermMs > ECHO_MS
    child.kill(isImpatient ? 'SIGKILL' : signal)
  }
}

function reportStartFailure(command: string, { code, message }: NodeJS.ErrnoException): number {
  if (code !== 'ENOENT') {
    console.error(`standin exec: ${command} cannot be run (${code ?? message}).`)
    return NOT_RUNNABLE
  }
  console.error(`standin exec: ${command} was not found.${notFoundHint(command)}`)
  return NOT_FOUND
}

function notFoundHint(command: string): string {
  if (command.includes(' ')) return ` Write it without quotes around all of it: standin exec -- ${command}`
  if (process.platform !== 'win32') return ''
  // There, npm, npx and the commands npm installs are scripts that only the shell can run.
  return ` Run a script through its shell: standin exec -- cmd /c ${command} …`
}
