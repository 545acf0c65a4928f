/** `standin exec --adversary`: runs a command once as it is, then once for each call and fault, and says what it made of them. */
import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { type ClientCall, callKey, callsIgnore, clientCalls } from '../adversary/calls.js'
import { type CommandEnd, type RunningCommand, startCommand } from '../adversary/command-run.js'
import { type CrashMoment, isComparable, judgeCrash } from '../adversary/crash.js'
import { type ClientTest, clientTests, type FaultGroup, faultGroups } from '../adversary/faults.js'
import { judge } from '../adversary/judge.js'
import { commandFor, testFileOf } from '../adversary/test-files.js'
import type { VerdictCode } from '../adversary/verdict.js'
import { UsageError } from '../check/problem.js'
import { didYouMean } from '../check/suggest.js'
import { uptimeMs } from '../core/clock.js'
import { alternatives } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { currentWord, type Fault } from '../core/fault.js'
import { glob } from '../core/paths.js'
import type { JournalEntry } from '../journal/index.js'
import { ADVERSARY_RUN } from '../platform/config/load.js'
import type { Platform } from '../platform.js'
import { untilIdle } from '../testing/waiting.js'
import { type AdversaryResult, type AdversaryRun, adversaryReport, hasBugs } from './adversary-report.js'
import { type CommandLine, integer, type outputFlags, textFlag, toggle } from './command.js'
import { pluralize } from './output.js'
import { createReporter } from './report.js'
import { EXIT_STOPPED } from './stop-signals.js'

const EXIT_BUGS = 1

export const adversaryFlags = {
  adversary: toggle('Run the command again with each fault at each call, and report what it does wrong'),
  only: textFlag('GLOB', 'With --adversary: only calls of these paths, such as /v1/*'),
  faults: textFlag('NAMES', 'With --adversary: only these faults or groups, such as end,stall or model; or all'),
  kill: toggle('With --adversary: kill the command at its calls and start it again'),
  list: toggle('With --adversary: print all faults, and the verdicts that each can lead to'),
  'max-runs': integer([1, 99_999], 'With --adversary: the most runs with a fault (all)', undefined),
  jobs: integer([1, 64], 'With --adversary: how many runs at once (one for each core, at most 4)', undefined),
  all: toggle('With --adversary: repeat all tests, not only the file that made the call'),
}

type Flags = CommandLine<typeof adversaryFlags & typeof outputFlags & { verbose: typeof outputFlags.quiet }>['flags']

const needAdversary = ['only', 'faults', 'max-runs', 'jobs', 'all', 'kill', 'list'] as const

/** Throws a UsageError for flags without --adversary, and for unknown faults. */
export function requireAdversary(flags: Flags): void {
  const stray = needAdversary.find(name => flags[name] !== undefined && flags[name] !== false)
  if (stray !== undefined && !flags.adversary) throw new UsageError(`--${stray} needs --adversary.`)
  wantedTests(flags)
}

/** The faults that --faults and --kill name. Throws a UsageError for an unknown one. */
function wantedTests({ faults: names, kill }: Pick<Flags, 'faults' | 'kill'>): readonly ClientTest[] {
  const kills = kill ? clientTests.filter(({ crash }) => crash) : []
  if (names === undefined) return kill ? kills : clientTests.filter(({ isExtra }) => !isExtra)
  const known = ['all', ...faultGroups, ...clientTests.map(({ name }) => name)]
  const named = names.split(',').flatMap(written => {
    const name = currentWord(written.trim())
    if (name === 'all') return clientTests
    const found = clientTests.filter(one => one.name === name || one.group === name)
    if (found.length > 0) return found
    throw new UsageError(`--faults: ${written} is not known.${didYouMean(written, known)} Use ${alternatives(known)}.`)
  })
  return [...new Set([...named, ...kills])]
}

/** All faults, with what happens and what it can show. */
export const listOfFaults = (): string => faultGroups.map(listOfGroup).join('\n\n')

function listOfGroup(name: FaultGroup): string {
  const tests = clientTests.filter(({ group }) => group === name)
  return [`--faults ${name}`, ...tests.map(linesOfTest)].join('\n')
}

const linesOfTest = ({ name, does, verdicts, isExtra }: ClientTest) =>
  `  ${name}${isExtra ? ' (if asked for)' : ''}: ${does}\n    ${verdicts.join(', ')}`

interface Adversary {
  readonly platform: Platform
  /** Opens the platform of another run, with a state and, unless it is configured, a port of its own. */
  readonly open: () => Promise<Platform>
  readonly program: readonly string[]
  readonly variablesFor: (platform: Platform) => NodeJS.ProcessEnv
  readonly flags: Flags
  readonly found: (run: AdversaryRun) => void
}

/** A run of the command: the calls that it made, and how it ended. */
interface RunOfCalls extends CommandEnd {
  readonly calls: readonly ClientCall[]
  readonly fixedPorts: ReadonlySet<number>
}

/** Starts the runs. `ended` has the exit code; `send` stops them, and what is known is reported. */
export function startAdversary(adversary: Adversary) {
  const stopping = new AbortController()
  return {
    ended: runAll(adversary, stopping.signal),
    send: (_signal: NodeJS.Signals) => stopping.abort(),
  }
}

async function runAll(adversary: Adversary, signal: AbortSignal): Promise<number> {
  const { platform, flags } = adversary
  const startedMs = performance.now()
  const tests = wantedTests(flags)
  const sharing = sharedByRuns(platform)
  if (sharing !== undefined && (flags.jobs ?? 1) > 1)
    throw new UsageError(`--jobs ${flags.jobs} is not possible, since all runs share ${sharing}.`)
  const runs = new Runs(adversary, signal)
  const first = await runs.first()
  if (signal.aborted) return EXIT_STOPPED
  if (first.code !== 0) {
    console.error(`The command fails without any fault (exit code ${first.code}). Make it pass first.`)
    return first.code ?? EXIT_BUGS
  }
  const planned = plan(first.calls, tests, flags.only)
  const wanted = planned.slice(0, flags['max-runs'])
  const ports = [...first.fixedPorts].map(port => `port ${port}`)
  const alone = sharing ?? (ports.length > 0 ? alternatives(ports) : undefined)
  const jobs = flags.jobs ?? (alone === undefined ? Math.min(MOST_JOBS, availableParallelism()) : 1)
  if (!flags.quiet) console.error(estimate({ planned, wanted, durationMs: first.durationMs, jobs, alone }))
  const results = await runs.withFaults(wanted, first, jobs)
  const left = notTried(planned, tests, platform)
  const run = { results, planned: planned.length, left, seconds: (performance.now() - startedMs) / 1000 }
  adversary.found(run)
  await createReporter(flags).write(adversaryReport(run))
  if (signal.aborted) return EXIT_STOPPED
  return hasBugs(run) ? EXIT_BUGS : 0
}

/** More would wait for the disk or for the one app rather than for answers. */
const MOST_JOBS = 4

/** What all runs share, so that only one is possible at a time; `undefined` if each has its own. */
function sharedByRuns({ loaded, modes, mode }: Platform): string | undefined {
  const { port, state } = loaded.config
  if (port !== 0) return `port ${port} of Standin`
  if (state !== 'memory') return 'a state that is configured'
  if (!['state', 'memory'].includes(loaded.config.tables.database)) return 'the database of the tables'
  return [mode, ...Object.values(modes)].includes('record') ? 'the recordings that they make' : undefined
}

/** Does the work for all items, `jobs` at a time and in order, until it is stopped. */
async function inJobs<T, R>(jobs: number, items: readonly T[], signal: AbortSignal, work: (item: T) => Promise<R>) {
  const results: R[] = []
  const waiting = items.entries()
  const worker = async () => {
    for (const [i, item] of waiting) {
      if (signal.aborted) return
      const result = await work(item)
      // One that was stopped in the middle says nothing.
      if (!signal.aborted) results[i] = result
    }
  }
  await Promise.all(Array.from({ length: jobs }, worker))
  return Object.values(results)
}

const MOST_TURNS_MS = 60_000

/** What the further calls of a test take, if each takes as long as those of the first run did on average. */
const turnsMs = ({ turns = 0 }: ClientTest, { calls, durationMs }: RunOfCalls) =>
  Math.min(MOST_TURNS_MS, (turns * durationMs) / Math.max(1, calls.length))

/** A client may wait for retries. OpenAI's SDK and the AI SDK wait up to two seconds before the first one. */
const WAITS_MS = 5000
/** What a run with a fault takes longer, on average of all faults. */
const USUAL_WAIT_MS = 1500

interface Estimate {
  readonly planned: readonly PlannedRun[]
  readonly wanted: readonly PlannedRun[]
  readonly durationMs: number
  readonly jobs: number
  /** Why only one is possible at a time. */
  readonly alone: string | undefined
}

/** `3 calls × 11 faults: 33 runs, about 4 min with 2 at once.` */
function estimate({ planned, wanted, durationMs, jobs, alone }: Estimate): string {
  const calls = new Set(planned.map(({ call }) => call.key)).size
  const faults = new Set(planned.map(({ test }) => test.name)).size
  const most = planned.length < calls * faults ? 'up to ' : ''
  const runs = `${wanted.length < planned.length ? `${wanted.length} of ` : ''}${pluralize(planned.length, 'run')}`
  const seconds = Math.ceil((wanted.length * (durationMs + USUAL_WAIT_MS)) / jobs / 1000)
  const time = seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
  const together = jobs > 1 ? ` with ${jobs} at once` : alone === undefined ? '' : `, one at a time because of ${alone}`
  return `${pluralize(calls, 'call')} × ${most}${pluralize(faults, 'fault')}: ${runs}, about ${time}${together}.`
}

interface PlannedRun {
  readonly call: ClientCall
  readonly test: ClientTest
  readonly fault: Fault
}

/** The faults that no call of the run can have, and why. */
function notTried(planned: readonly PlannedRun[], tests: readonly ClientTest[], { loaded }: Platform) {
  const areElsewhere = loaded.config.auth.mode === 'proxy'
  return tests.flatMap(({ name, unless, group }) => {
    if (unless === undefined || planned.some(({ test }) => test.name === name)) return []
    const why = areElsewhere && group === 'session' ? 'the users are those of a live backend' : unless
    return [{ fault: name, why }]
  })
}

/** Each distinct call of the platform that succeeded, with each fault that can apply. */
function plan(calls: readonly ClientCall[], tests: readonly ClientTest[], only = '*'): readonly PlannedRun[] {
  const distinct = [...new Map(calls.toReversed().map(call => [call.key, call])).values()].toReversed()
  const areSessionsTried = tests.some(({ group }) => group === 'session')
  const isCalled = ({ kind, status }: ClientCall) =>
    (kind !== 'auth' || areSessionsTried) && kind !== 'protocol' && status !== null && status < 400
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
      const fault = call.kind === 'auth' && test.group !== 'session' ? undefined : test.faultFor(call)
      return fault ? [{ call, test, fault }] : []
    }),
  )
}

function resultOf({ call, test, fault }: PlannedRun, run: RunOfCalls, first: RunOfCalls): AdversaryResult {
  const { code, durationMs } = run
  const hit = run.calls.find(one => one.key === call.key && one.fault !== undefined)
  const shared = { call, fault: test.name, seconds: durationMs / 1000 }
  const none = { ...shared, verdicts: [], wasHit: false }
  if (!hit) return none
  const isKnown = first.calls.some(({ test: name }) => name === hit.test)
  // Other tests of the same run are no reaction to the fault.
  const isOfTest = ({ test: name }: ClientCall) => !isKnown || ['', hit.test, testFileOf(hit.test)].includes(name)
  const end = code === null ? 'killed' : code === 0 ? 'passed' : 'failed'
  const [calls, before] = [run.calls.filter(isOfTest), first.calls.filter(isOfTest)]
  if (test.crash) {
    const crashed = { calls, hit, before, end } as const
    return isComparable(crashed) ? { ...shared, verdicts: judgeCrash(crashed), wasHit: true } : none
  }
  const verdicts = judge({ calls, hit, fault, before, end })
  return { ...shared, verdicts: verdicts.filter(({ code }) => test.verdicts.includes(code)), wasHit: true }
}

interface OneRun {
  readonly platform: Platform
  readonly program: readonly string[]
  readonly limitMs?: number
  /** Kills the command when this resolves, and starts it again. */
  readonly crash?: Promise<void> | undefined
}

const never = new Promise<never>(() => {})

/** Between two looks at a request. */
const LOOK_MS = 5
/** For this long, no piece of a stream has come if it has stalled. */
const STALLED_MS = 200

/** Resolves when the exchange has come as far as the crash is planned for. */
async function untilMoment(exchangeOf: () => Exchange | undefined, moment: CrashMoment, signal: AbortSignal) {
  const wait = (ms: number) => new Promise(resolve => void setTimeout(resolve, ms))
  while (!signal.aborted) {
    const exchange = exchangeOf()
    const isReached = moment === 'before' ? exchange !== undefined : exchange?.outcome !== undefined
    const pieces = exchange?.outcome?.piecesAtMs?.length
    if (isReached && moment === 'stream') await wait(STALLED_MS)
    if (isReached && exchange?.outcome?.piecesAtMs?.length === pieces) return
    await wait(LOOK_MS)
  }
}

async function endOf(start: () => RunningCommand, crash: Promise<void> | undefined, signal: AbortSignal) {
  const command = start()
  const hasCrashed = await Promise.race([command.ended.then(() => false), crash?.then(() => true) ?? never])
  if (hasCrashed) await command.kill()
  const ended = await command.ended
  const second = hasCrashed && !signal.aborted ? await start().ended : ended
  return { ...second, fixedPorts: command.fixedPorts() }
}

const entryOf = ({ journal }: Platform, exchange: Exchange) =>
  journal.entry({ id: 0, exchange, atMs: 0, durationMs: 0 }, Number.MAX_SAFE_INTEGER)

/** Collects the exchanges of a run from now on. Tests clear the journal when they end. */
function wholeEntries({ journal, sharedRun }: Platform) {
  const own: JournalEntry[] = []
  journal.follow((exchange, id) => {
    const durationMs = uptimeMs() - exchange.startedMs
    own.push(journal.entry({ id, exchange, atMs: Date.now() - durationMs, durationMs }, Number.MAX_SAFE_INTEGER))
  })
  return () => [...own, ...(sharedRun?.exchanges() ?? [])]
}

/** On a busy machine, a run may be late or fail for that reason. */
const ofLoad: readonly VerdictCode[] = ['failed', 'hung', 'connection-kept', 'stuck']

class Runs {
  readonly #ignore: ReturnType<typeof callsIgnore>
  /** Test files that their runner did not run alone. */
  readonly #inseparable = new Set<string>()

  constructor(
    private readonly adversary: Adversary,
    private readonly signal: AbortSignal,
  ) {
    this.#ignore = callsIgnore(adversary.platform.loaded.config.recordings.ignore)
  }

  first(): Promise<RunOfCalls> {
    return this.#run(this.adversary)
  }

  /** `jobs` at a time. Those that are stopped have no result. */
  async withFaults(all: readonly PlannedRun[], first: RunOfCalls, jobs: number): Promise<readonly AdversaryResult[]> {
    const progress = createReporter(this.adversary.flags).progress(all.length)
    const results: AdversaryResult[] = []
    const work = (run: PlannedRun) => {
      progress.at(`${run.test.name}: ${run.call.title}`)
      return this.#withFault(run, first)
    }
    const tried = await inJobs(jobs, all, this.signal, async run => {
      const result = await work(run)
      progress.step()
      return { run, result }
    })
    for (const { run, result } of tried) {
      // Such a verdict counts if a run alone repeats it.
      const isUnsure = result.verdicts.some(({ code }) => ofLoad.includes(code))
      results.push(...(isUnsure ? await inJobs(1, [run], this.signal, work) : [result]))
    }
    progress.end()
    return results
  }

  /** Repeats the test file that made the call if it is known and its runner can, else everything. */
  async #withFault(planned: PlannedRun, first: RunOfCalls): Promise<AdversaryResult> {
    const { program, flags } = this.adversary
    const limitMs = 3 * first.durationMs + WAITS_MS + turnsMs(planned.test, first)
    const file = testFileOf(planned.call.test)
    const ofFile = flags.all || !file || this.#inseparable.has(file) ? undefined : commandFor(program, [file])
    if (ofFile) {
      const result = resultOf(planned, await this.#runWith(planned, ofFile, limitMs), first)
      if (result.wasHit || this.signal.aborted) return result
      this.#inseparable.add(file ?? '')
    }
    return resultOf(planned, await this.#runWith(planned, program, limitMs), first)
  }

  async #runWith({ call, test, fault }: PlannedRun, program: readonly string[], limitMs: number) {
    const platform = await this.adversary.open()
    let crashing: Exchange | undefined
    const ended = new AbortController()
    const isCall = (exchange: Exchange) => {
      const isOne = callKey(entryOf(platform, exchange), this.#ignore) === call.key
      if (isOne) crashing ??= exchange
      return isOne
    }
    const faults = [{ fault, times: test.times ?? 1 }, ...(test.next ? [{ fault: test.next, times: 1 }] : [])]
    for (const one of faults) platform.faultCalls.add({ ...one, path: '*' }, isCall, true)
    platform.sharedRun?.handFaults(faults.map(one => ({ ...one, key: call.key })))
    const crash = test.crash && untilMoment(() => crashing, test.crash, ended.signal)
    return this.#run({ platform, program, limitMs, crash }).finally(() => ended.abort())
  }

  async #run({ platform, program, limitMs, crash }: OneRun): Promise<RunOfCalls> {
    const { variablesFor, flags } = this.adversary
    const name = `run-${randomUUID()}`
    const entries = wholeEntries(platform)
    const start = () =>
      startCommand({
        program,
        env: { ...variablesFor(platform), [ADVERSARY_RUN]: name },
        mark: `${ADVERSARY_RUN}=${name}`,
        output: limitMs === undefined || flags.verbose ? 2 : 'ignore',
        ...(limitMs === undefined ? { looksAtPorts: true } : { limitMs }),
        signal: this.signal,
      })
    const ended = await endOf(start, crash, this.signal)
      // The connections of the command are closed now, and its last exchanges are about to be journaled.
      .finally(() => untilIdle(platform.forTests.traffic).catch(() => {}))
      // Exchanges that are still open end now, and count.
      .finally(() => platform.stop())
    return { ...ended, calls: clientCalls(entries(), this.#ignore) }
  }
}
