/** `standin exec --adversary`: runs a command once as it is, then once for each call and fault, and says what it made of them. */
import { spawn } from 'node:child_process'
import { type ClientCall, callKey, callsIgnore, clientCalls } from '../adversary/calls.js'
import { type ClientTest, clientTests } from '../adversary/faults.js'
import { judge } from '../adversary/judge.js'
import { UsageError } from '../check/problem.js'
import { didYouMean } from '../check/suggest.js'
import { alternatives } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import type { Fault } from '../core/fault.js'
import { glob } from '../core/paths.js'
import type { Platform } from '../platform.js'
import { untilIdle } from '../testing/waiting.js'
import { type AdversaryResult, adversaryReport } from './adversary-report.js'
import { type CommandLine, integer, type outputFlags, textFlag, toggle } from './command.js'
import { createReporter } from './report.js'
import { EXIT_STOPPED } from './stop-signals.js'

const EXIT_BUGS = 1

export const adversaryFlags = {
  adversary: toggle('Run the command again with each fault at each call, and report what it does wrong'),
  only: textFlag('GLOB', 'With --adversary: only calls of these paths, such as /v1/*'),
  faults: textFlag('NAMES', 'With --adversary: only these faults, such as end,stall'),
  'max-runs': integer([1, 99_999], 'With --adversary: the most runs with a fault (all)', undefined),
}

type Flags = CommandLine<typeof adversaryFlags & typeof outputFlags & { verbose: typeof outputFlags.quiet }>['flags']

/** Throws a UsageError for flags without --adversary, and for unknown faults. */
export function requireAdversary(flags: Flags): void {
  const stray = (['only', 'faults', 'max-runs'] as const).find(name => flags[name] !== undefined)
  if (stray !== undefined && !flags.adversary) throw new UsageError(`--${stray} needs --adversary.`)
  wantedTests(flags.faults)
}

/** The faults that --faults names. Throws a UsageError for an unknown one. */
function wantedTests(names: string | undefined): readonly ClientTest[] {
  if (names === undefined) return clientTests
  const known = clientTests.map(({ name }) => name)
  return names.split(',').map(name => {
    const test = clientTests.find(one => one.name === name.trim())
    if (test) return test
    throw new UsageError(`--faults: ${name} is not known.${didYouMean(name, known)} Use ${alternatives(known)}.`)
  })
}

interface Adversary {
  readonly platform: Platform
  readonly program: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly flags: Flags
}

/** A run of the command: the calls that it made, and how it ended. */
interface CommandRun {
  readonly calls: readonly ClientCall[]
  /** Null if it was ended, because it took too long. */
  readonly code: number | null
  readonly durationMs: number
}

/** Starts the runs. `ended` has the exit code; `send` stops them, and what is known is reported. */
export function startAdversary({ platform, program, env, flags }: Adversary) {
  const tests = wantedTests(flags.faults)
  const stopping = new AbortController()
  const runs = createRuns({ platform, program, env, signal: stopping.signal, isVerbose: flags.verbose })
  return {
    ended: runAll(runs, tests, { platform, flags, signal: stopping.signal }),
    send: (_signal: NodeJS.Signals) => stopping.abort(),
  }
}

type Runs = ReturnType<typeof createRuns>

async function runAll(
  runs: Runs,
  tests: readonly ClientTest[],
  { platform, flags, signal }: { platform: Platform; flags: Flags; signal: AbortSignal },
): Promise<number> {
  const startedMs = performance.now()
  const reporter = createReporter(flags)
  const first = await runs.first()
  if (signal.aborted) return EXIT_STOPPED
  if (first.code !== 0) {
    console.error(`The command fails without any fault (exit code ${first.code}). Make it pass first.`)
    return first.code ?? EXIT_BUGS
  }
  const planned = plan(first.calls, tests, flags.only)
  const wanted = planned.slice(0, flags['max-runs'])
  const progress = reporter.progress(wanted.length)
  const results: AdversaryResult[] = []
  for (const { call, test, fault } of wanted) {
    progress.at(`${test.name}: ${call.title}`)
    const run = await runs.withFault({ call, test, fault }, 3 * first.durationMs + WAITS_MS)
    if (signal.aborted) break
    results.push(resultOf({ call, test, fault }, run, first.calls))
    progress.step()
  }
  progress.end()
  const report = adversaryReport({
    results,
    planned: planned.length,
    seconds: (performance.now() - startedMs) / 1000,
    mode: platform.mode,
  })
  await reporter.write(report)
  if (signal.aborted) return EXIT_STOPPED
  return results.some(({ verdicts }) => verdicts.some(({ isBug }) => isBug)) ? EXIT_BUGS : 0
}

/** A client may wait for retries. OpenAI's SDK and the AI SDK wait up to two seconds before the first one. */
const WAITS_MS = 5000

interface PlannedRun {
  readonly call: ClientCall
  readonly test: ClientTest
  readonly fault: Fault
}

/** Each distinct call of the platform that succeeded, with each fault that can apply. */
function plan(calls: readonly ClientCall[], tests: readonly ClientTest[], only = '*'): readonly PlannedRun[] {
  const distinct = [...new Map(calls.toReversed().map(call => [call.key, call])).values()].toReversed()
  const isCalled = ({ kind, status }: ClientCall) =>
    kind !== 'auth' && kind !== 'protocol' && status !== null && status < 400
  const possible = distinct.filter(isCalled)
  const wanted = possible.filter(({ path }) => glob(only).test(path))
  if (wanted.length === 0) {
    const paths = [...new Set(possible.map(({ path }) => path))]
    throw new UsageError(
      paths.length === 0
        ? 'The command made no successful call to the platform. Does it read OPENAI_BASE_URL or PLATFORM_BASE_URL?'
        : `--only ${only} selects no call. The command called ${paths.join(', ')}.`,
    )
  }
  return wanted.flatMap(call =>
    tests.flatMap(test => {
      const fault = test.faultFor(call)
      return fault ? [{ call, test, fault }] : []
    }),
  )
}

function resultOf(
  { call, test, fault }: PlannedRun,
  { calls, code, durationMs }: CommandRun,
  before: readonly ClientCall[],
): AdversaryResult {
  const hit = calls.find(one => one.key === call.key && one.fault !== undefined)
  const shared = { call, fault: test.name, seconds: durationMs / 1000 }
  if (!hit) return { ...shared, verdicts: [], wasHit: false }
  const end = code === null ? 'killed' : code === 0 ? 'passed' : 'failed'
  const verdicts = judge({ calls, hit, fault, before, end })
  return { ...shared, verdicts: verdicts.filter(({ code }) => test.only?.includes(code) ?? true), wasHit: true }
}

interface RunParts extends Omit<Adversary, 'flags'> {
  readonly signal: AbortSignal
  readonly isVerbose: boolean
}

function createRuns({ platform, program, env, signal, isVerbose }: RunParts) {
  const ignore = callsIgnore(platform.loaded.config.recordings.ignore)
  const keyOf = (exchange: Exchange) =>
    callKey(platform.journal.entry({ id: 0, exchange, atMs: 0, durationMs: 0 }, Number.MAX_SAFE_INTEGER), ignore)

  async function run(output: 'ignore' | 2, limitMs: number): Promise<CommandRun> {
    const startedMs = performance.now()
    const code = await exitCodeOf({ program, env, output, limitMs, signal })
    const durationMs = performance.now() - startedMs
    // The connections of the command are closed now, and its last exchanges are about to be journaled.
    await untilIdle(platform.forTests.traffic).catch(() => {})
    const ids = platform.journal.entries().map(({ id }) => id)
    const entries = ids.flatMap(id => platform.journal.get(id, Number.MAX_SAFE_INTEGER) ?? [])
    return { calls: clientCalls(entries, ignore), code, durationMs }
  }

  return {
    first: () => run(2, NO_LIMIT_MS),
    async withFault({ call, test, fault }: PlannedRun, limitMs: number): Promise<CommandRun> {
      platform.forTests.traffic.disown()
      await platform.reset()
      const isCall = (exchange: Exchange) => keyOf(exchange) === call.key
      platform.faultCalls.add({ fault, times: test.times ?? 1 }, isCall)
      if (test.next) platform.faultCalls.add({ fault: test.next, times: 1 }, isCall)
      return run(isVerbose ? 2 : 'ignore', limitMs)
    },
  }
}

/** The most that a timer can wait. */
const NO_LIMIT_MS = 2_147_483_647
/** How long a command has to end by itself. */
const GRACE_MS = 1000

interface ProgramRun extends Pick<RunParts, 'program' | 'env' | 'signal'> {
  /** Where its output goes: nowhere, or to standard error. */
  readonly output: 'ignore' | 2
  readonly limitMs: number
}

/** The exit code of a command; null if it was ended. Nothing that it has started stays behind. */
function exitCodeOf({ program, env, output, limitMs, signal }: ProgramRun): Promise<number | null> {
  const [command = '', ...args] = program
  // A process group of its own, so that npm, its shell and their children end together.
  const child = spawn(command, args, { stdio: ['ignore', output, output], env, detached: canGroup })
  const kill = (how: NodeJS.Signals) => {
    try {
      if (canGroup && child.pid !== undefined) process.kill(-child.pid, how)
      else child.kill(how)
    } catch {
      // It has ended already.
    }
  }
  return new Promise((resolve, reject) => {
    let lastResort: NodeJS.Timeout | undefined
    const end = () => {
      kill('SIGTERM')
      lastResort ??= setTimeout(kill, GRACE_MS, 'SIGKILL')
    }
    const timer = setTimeout(end, limitMs)
    signal.addEventListener('abort', end)
    const settle = () => {
      clearTimeout(timer)
      clearTimeout(lastResort)
      signal.removeEventListener('abort', end)
      kill('SIGKILL')
    }
    child.once('exit', code => {
      settle()
      resolve(lastResort ? null : (code ?? EXIT_BUGS))
    })
    child.once('error', ({ message }) => {
      settle()
      reject(new UsageError(`standin exec --adversary: ${command} cannot be run (${message}).`))
    })
  })
}

const canGroup = process.platform !== 'win32'
