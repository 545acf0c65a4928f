/** `standin drift`: repeats each recorded request at the live platform and reports what has changed in the answers. */
import path from 'node:path'
import type { Severity } from '../../check/finding.js'
import { StartError, UsageError } from '../../check/problem.js'
import { NEEDS_LIVE } from '../../config/load.js'
import { redactionRules } from '../../config/redaction.js'
import { compare } from '../../contract/compare.js'
import { shapeOfAnswer } from '../../contract/shape.js'
import { compareTools } from '../../contract/tools.js'
import { glob } from '../../core/paths.js'
import { acceptsApiKey, documentedCredentialOf } from '../../http/proxy/credentials.js'
import { mcpPathsOf, openLiveSession } from '../../platform/upstream.js'
import type { Platform } from '../../platform.js'
import {
  type DriftResult,
  type Folder,
  findDrift,
  messagesOf,
  openFolder,
  type RecordingFile,
} from '../../recordings/index.js'
import { anyPlaceholder, createRedact } from '../../redact/index.js'
import { type CommandLine, command, fileName, integer, text, toggle } from '../command.js'
import { withPlatform } from '../load.js'
import { printable, relativePath } from '../output.js'
import { createProgress, noProgress } from '../progress.js'
import { junitOf } from '../report/junit.js'
import { createReporter, failOnFlag, reportFlags, requireWritable, writeReport } from '../report/reporter.js'
import { EXIT_STOPPED, stopOnSignals } from '../stop-signals.js'
import { failuresOf, reportOf } from './report.js'
import type { InitializeParamsFor } from './send-mcp-call.js'
import { type LiveOptions, sendToLive } from './send-to-live.js'

const EXIT_DRIFTED = 1
const EXIT_BAD_INPUT = 2

const flags = {
  only: text('GLOB', 'Only recordings whose name matches: chat-*'),
  update: toggle('Replace the recorded answers with the live ones'),
  'fail-on': failOnFlag(),
  concurrency: integer([1, 99], 'Maximum number of concurrent requests (4)', 4),
  ...reportFlags,
  junit: fileName('Also write a report as JUnit XML'),
}

export const commands = { drift: command({ flags, run: drift }) }

/** Reports the findings and sets the exit code by their severity. */
async function drift(line: CommandLine<typeof flags>): Promise<undefined> {
  const { junit, 'fail-on': failOn = 'critical' } = line.flags
  const reporter = createReporter(line.flags)
  if (junit !== undefined) requireWritable('--junit', junit)
  const startedMs = performance.now()
  const signal = stopOnSignals()
  const { upstream, ...comparison } = await withPlatform(line, platform =>
    compareWithLive(platform, line.flags, signal),
  )
  const report = reportOf({ ...comparison, failOn, upstream, seconds: (performance.now() - startedMs) / 1000 })
  process.exitCode = exitCodeOf(comparison.results, failOn, signal)
  await reporter.write(report)
  // Last, so that the findings are printed even if the file cannot be written.
  if (junit !== undefined) await writeReport(junit, junitOf(report))
}

async function compareWithLive(
  platform: Platform,
  { only, update, concurrency, json, quiet }: CommandLine<typeof flags>['flags'],
  signal: AbortSignal,
) {
  const { config, dir } = platform.loaded
  const { upstream, recordings } = config
  if (upstream.baseUrl === '') throw new UsageError(`standin drift ${NEEDS_LIVE}`)
  const folder = openFolder(path.resolve(dir, recordings.dir))
  const pattern = glob(only ?? '*')
  const entries = (await folder.list()).filter(({ file }) => pattern.test(file))
  if (only !== undefined && entries.length === 0) throw new UsageError(`No recording matches ${only}.`)
  if (entries.length === 0)
    throw new StartError(`There are no recordings in ${relativePath(folder.dir)}, so nothing could be compared.`)
  const rules = redactionRules(config)
  const live = {
    upstream,
    credentialOf: await liveCredentials(platform),
    userToken: await openLiveSession(upstream, sentence => console.error(sentence)),
    initializeParamsFor: await initializeParams(folder, entries),
  }
  const progress = json || quiet ? noProgress : createProgress(entries.length, process.stderr)
  const results = await findDrift({
    ...{ folder, entries, concurrency, update, signal },
    credentialFor: path => credentialFor(path, live),
    compare: (recorded, live) =>
      compareTools(recorded.body, live.body) ?? compare(shapeOfAnswer(recorded), shapeOfAnswer(live)),
    send: sendToLive(live),
    redact: createRedact(rules),
    placeholder: anyPlaceholder(rules),
    onStart: file => progress.at(printable(file)),
    onResult: progress.step,
  }).finally(progress.end)
  return { results, total: entries.length, upstream: upstream.baseUrl }
}

async function liveCredentials({ loaded, ownPathsAt }: Platform): Promise<LiveOptions['credentialOf']> {
  const isMcp = mcpPathsOf(loaded.config)
  const endpointsAt = await ownPathsAt()
  const isForKeys = (path: string) => isMcp?.(path) || endpointsAt(path).some(({ access }) => acceptsApiKey(access))
  return path => documentedCredentialOf(path) ?? (isForKeys(path) ? 'apiKey' : undefined)
}

/** The `initialize` parameters of recorded MCP sessions, by path. */
async function initializeParams(folder: Folder, entries: readonly RecordingFile[]): Promise<InitializeParamsFor> {
  const paramsByPath = new Map<string, object>()
  for (const { file } of entries.filter(({ file }) => file.includes('/initialize-'))) {
    // An unreadable file is reported when it is compared.
    const recording = await folder.read(file).catch(() => undefined)
    const [message] = recording ? messagesOf(recording.request.body) : []
    if (recording && message?.params) paramsByPath.set(recording.request.path, message.params)
  }
  return path => paramsByPath.get(path)
}

/** What users call the credential that `sendToLive` sends for a path. */
function credentialFor(path: string, { credentialOf, upstream, userToken }: LiveOptions): string | undefined {
  const kind = credentialOf(path)
  if (kind === undefined) return undefined
  if (upstream[kind] !== '') return `upstream.${kind}`
  return kind === 'apiKey' && userToken ? 'the session of standin login' : `a request without upstream.${kind}`
}

function exitCodeOf(results: readonly DriftResult[], failOn: Severity, { aborted }: AbortSignal): number {
  if (aborted) return EXIT_STOPPED
  if (results.some(({ kind }) => kind === 'unreadable')) return EXIT_BAD_INPUT
  const unanswered = results.find(result => result.kind === 'notAsked')
  if (unanswered && !results.some(({ kind }) => kind === 'compared')) {
    console.error(`Nothing could be compared. ${unanswered.reason}`)
    return EXIT_DRIFTED
  }
  const isFailure = (result: DriftResult) => result.kind === 'refused' || failuresOf(result, failOn).length > 0
  return results.some(isFailure) ? EXIT_DRIFTED : 0
}
