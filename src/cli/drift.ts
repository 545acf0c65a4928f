/** `standin drift`: repeats each recorded request at the live platform and reports what has changed in the answers. */
import path from 'node:path'
import type { Severity } from '../check/finding.js'
import { StartError, UsageError } from '../check/problem.js'
import type { LoadedConfig } from '../config/load.js'
import { redactionRules } from '../config/redaction.js'
import { compare } from '../contract/compare.js'
import { shapeOfAnswer } from '../contract/shape.js'
import { glob } from '../core/paths.js'
import { openLiveSession } from '../platform/upstream.js'
import { type DriftResult, findDrift, openFolder } from '../recordings/index.js'
import { anyPlaceholder, createRedact } from '../redact/index.js'
import { type CommandLine, load } from './arguments.js'
import { askLive } from './ask-live.js'
import { countLine, countOf, failuresOf, junitOf, resultLines } from './drift-report.js'
import { colorsFor, harmless, near } from './output.js'
import { createProgress, noProgress } from './progress.js'
import { requireWritable, severityIn, writeReport } from './report.js'
import { EXIT_STOPPED, stopOnSignals } from './stop-signals.js'

const EXIT_DRIFTED = 1
const EXIT_BAD_INPUT = 2

/** The options from the flags. */
interface DriftOptions {
  readonly only: string | undefined
  readonly update: boolean
  readonly failOn: Severity
  readonly concurrency: number
  readonly junit: string | undefined
}

/** Prints the findings; the exit code says how severe they are. Rejects with a UsageError, a ProblemsError or a StartError. */
export async function drift(commandLine: CommandLine): Promise<void> {
  const options = optionsIn(commandLine)
  const loaded = load(commandLine)
  if (loaded.config.upstream.baseUrl === '') {
    throw new UsageError('standin drift needs upstream.baseUrl, the address of the live platform.')
  }
  if (options.junit !== undefined) requireWritable('--junit', options.junit)
  const startedMs = performance.now()
  const stopping = stopOnSignals()
  const { findings, total } = await look(loaded, options, commandLine, stopping)
  const count = countOf(findings, total)
  const seconds = (performance.now() - startedMs) / 1000
  const colors = colorsFor(process.stdout)
  const problems = findings.filter(({ kind }) => kind !== 'skipped')
  const words = commandLine.quiet ? resultLines(problems, colors) : [...resultLines(findings, colors), countLine(count)]
  const report = commandLine.json ? [JSON.stringify({ ...count, findings })] : words
  if (report.length > 0) process.stdout.write(`${report.join('\n')}\n`)
  process.exitCode = exitCodeOf(findings, options.failOn, stopping)
  // Last, so that the findings are printed even if the file cannot be written.
  if (options.junit !== undefined) {
    await writeReport(options.junit, junitOf(findings, { threshold: options.failOn, seconds }))
  }
}

function optionsIn({ words: [, ...more], given }: CommandLine): DriftOptions {
  if (more.length > 0) throw new UsageError(`standin drift takes no further words, such as ${more[0]}.`)
  const text = (flag: string) => given.get(flag) as string | undefined
  const concurrency = text('concurrency') ?? '4'
  if (!/^[1-9]\d?$/.test(concurrency)) {
    throw new UsageError(`--concurrency must be a whole number from 1 to 99, not "${concurrency}".`)
  }
  return {
    only: text('only'),
    update: given.has('update'),
    failOn: severityIn(text('fail-on')),
    concurrency: Number(concurrency),
    junit: text('junit'),
  }
}

async function look(
  { config, dir }: LoadedConfig,
  { only, update, concurrency }: DriftOptions,
  { json, quiet }: CommandLine,
  signal: AbortSignal,
): Promise<{ readonly findings: readonly DriftResult[]; readonly total: number }> {
  const { upstream, recordings } = config
  const folder = openFolder(path.resolve(dir, recordings.dir))
  const wanted = glob(only ?? '*')
  const kept = (await folder.list()).filter(({ file }) => wanted.test(file))
  if (only !== undefined && kept.length === 0) throw new UsageError(`No recording has a name like ${only}.`)
  if (kept.length === 0)
    throw new StartError(`There are no recordings in ${near(folder.dir)}: nothing could be compared.`)
  const rules = redactionRules(config)
  const userToken = await openLiveSession(upstream, sentence => console.error(sentence))
  const progress = json || quiet ? noProgress : createProgress(kept.length, process.stderr)
  const findings = await findDrift({
    ...{ folder, kept, concurrency, update, signal },
    credentialFor: path => credentialFor(path, { ...upstream, hasSession: userToken !== undefined }),
    compare: (recorded, live) => compare(shapeOfAnswer(recorded), shapeOfAnswer(live)),
    ask: askLive({ upstream, maxBytes: recordings.maxBytes, userToken }),
    redact: createRedact(rules),
    placeholder: anyPlaceholder(rules),
    begun: file => progress.at(harmless(file)),
    ended: progress.step,
  }).finally(progress.end)
  return { findings, total: kept.length }
}

/** The credential that askLive sends for a path, as users know it. */
function credentialFor(
  path: string,
  {
    apiKey,
    anonKey,
    hasSession,
  }: Pick<LoadedConfig['config']['upstream'], 'apiKey' | 'anonKey'> & { hasSession: boolean },
): string | undefined {
  if (path.startsWith('/v1/')) {
    if (apiKey !== '') return 'upstream.apiKey'
    return hasSession ? 'the session of standin login' : 'a request without upstream.apiKey'
  }
  if (!path.startsWith('/api/v1')) return undefined
  return anonKey === '' ? 'a request without upstream.anonKey' : 'upstream.anonKey'
}

function exitCodeOf(findings: readonly DriftResult[], failOn: Severity, { aborted }: AbortSignal): number {
  if (aborted) return EXIT_STOPPED
  if (findings.some(({ kind }) => kind === 'unreadable')) return EXIT_BAD_INPUT
  const unanswered = findings.find(finding => finding.kind === 'notAsked')
  if (unanswered && !findings.some(({ kind }) => kind === 'compared')) {
    console.error(`Nothing could be compared. ${unanswered.reason}`)
    return EXIT_DRIFTED
  }
  const isFailure = (result: DriftResult) => result.kind === 'refused' || failuresOf(result, failOn).length > 0
  return findings.some(isFailure) ? EXIT_DRIFTED : 0
}
