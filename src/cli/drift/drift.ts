/** `standin drift`: repeats each recorded request at the live platform and reports what has changed in the answers. */
import path from 'node:path'
import { StartError, UsageError } from '../../check/problem.js'
import { compareAnswers, shapeOfAnswer } from '../../contract/shape.js'
import { glob } from '../../core/paths.js'
import { acceptsApiKey, documentedCredentialOf } from '../../http/proxy/credentials.js'
import { NEEDS_LIVE, redactionRules } from '../../platform/config/load.js'
import type { Platform } from '../../platform.js'
import { type DriftResult, findDrift, openFolder } from '../../recordings/index.js'
import { anyPlaceholder, createRedact } from '../../recordings/redact/index.js'
import { type CommandLine, command, folderFlags, integer, optionFlags, text, toggle } from '../command.js'
import { withPlatform } from '../load.js'
import { printable, relativePath } from '../output.js'
import type { Progress } from '../progress.js'
import { createReporter, reportFlags } from '../report.js'
import { EXIT_STOPPED, stopOnSignals } from '../stop-signals.js'
import { isBroken, reportOf } from './report.js'
import { type LiveOptions, sendToLive } from './send-to-live.js'

const EXIT_DRIFTED = 1
const EXIT_BAD_INPUT = 2

const flags = {
  ...folderFlags,
  upstream: optionFlags.upstream,
  only: text('GLOB', 'Only recordings whose name matches: chat-*'),
  update: toggle('Replace the recorded answers with the live ones'),
  concurrency: integer([1, 99], 'Maximum number of concurrent requests (4)', 4),
  ...reportFlags,
}

export const commands = { drift: command({ flags, run: drift }) }

/** Reports the findings. Sets the exit code to 1 if one of them is critical. */
async function drift(line: CommandLine<typeof flags>): Promise<undefined> {
  const reporter = createReporter(line.flags)
  const startedMs = performance.now()
  const signal = stopOnSignals()
  const comparison = await withPlatform(line, platform =>
    compareWithLive(platform, line.flags, { signal, progressOf: reporter.progress }),
  )
  process.exitCode = exitCodeOf(comparison.results, signal)
  await reporter.write(reportOf({ ...comparison, seconds: (performance.now() - startedMs) / 1000 }))
}

async function compareWithLive(
  platform: Platform,
  { only, update, concurrency }: CommandLine<typeof flags>['flags'],
  { signal, progressOf }: { readonly signal: AbortSignal; readonly progressOf: (total: number) => Progress },
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
  }
  const progress = progressOf(entries.length)
  const results = await findDrift({
    folder,
    entries,
    concurrency,
    update,
    signal,
    credentialFor: path => credentialFor(path, live),
    compare: (recorded, live) => compareAnswers(shapeOfAnswer(recorded), shapeOfAnswer(live)),
    send: sendToLive(live),
    redact: createRedact(rules),
    placeholder: anyPlaceholder(rules),
    onStart: file => progress.at(printable(file)),
    onResult: progress.step,
  }).finally(progress.end)
  return { results, total: entries.length }
}

async function liveCredentials({ ownPathsAt }: Platform): Promise<LiveOptions['credentialOf']> {
  const isForKeys = (path: string) => ownPathsAt(path).some(({ access }) => acceptsApiKey(access))
  return path => documentedCredentialOf(path) ?? (isForKeys(path) ? 'apiKey' : undefined)
}

/** What users call the credential that `sendToLive` sends for a path. */
function credentialFor(path: string, { credentialOf, upstream }: LiveOptions): string | undefined {
  const kind = credentialOf(path)
  if (kind === undefined) return undefined
  return upstream[kind] === '' ? `a request without upstream.${kind}` : `upstream.${kind}`
}

function exitCodeOf(results: readonly DriftResult[], { aborted }: AbortSignal): number {
  if (aborted) return EXIT_STOPPED
  if (results.some(({ kind }) => kind === 'unreadable')) return EXIT_BAD_INPUT
  const unanswered = results.find(result => result.kind === 'notAsked')
  if (unanswered && !results.some(({ kind }) => kind === 'compared')) {
    console.error(`Nothing could be compared. ${unanswered.reason}`)
    return EXIT_DRIFTED
  }
  return results.some(result => result.kind === 'refused' || isBroken(result)) ? EXIT_DRIFTED : 0
}
