/** `standin dev`, also as `record` or `replay`: starts a platform, prints its address, logs its requests, and stops on a signal. */
import module from 'node:module'
import path from 'node:path'
import { type Problem, ProblemsError, problemInWords, UsageError } from '../check/problem.js'
import { PlatformError } from '../core/errors.js'
import { configFileNames, replyFilesOf } from '../platform/config/load.js'
import { changedOptions } from '../platform/config/print.js'
import { openPlatform, type Platform } from '../platform.js'
import type { ListedRule } from '../replies/operations.js'
import { banner } from './banner.js'
import { type CommandLine, command, configSources, runFlags } from './command.js'
import {
  conclude,
  createEventLog,
  type EventLog,
  EXIT_FAILED,
  logMessages,
  logProblems,
  logRequests,
  logUnknownPaths,
} from './event-log.js'
import type { Colors } from './output.js'
import { acceptCommandOf, requireUsedFlags } from './receipt.js'
import { checksOf, endOf } from './run-result.js'
import { ECHO_MS } from './stop-signals.js'
import { type WatchedFiles, watchFiles } from './watch.js'

/** How long open streams may continue after the first signal. */
const GRACE_MS = 3000

const dev = command({
  flags: runFlags,
  examples: [
    ['standin', 'start on http://127.0.0.1:4100, and print its keys'],
    ['standin --port 0 --json', 'start on any free port; the first line says which, for scripts'],
  ],
  isServer: true,
  run(line) {
    const { word: mode, flags, overrides } = line
    if (mode !== 'record' && mode !== 'replay') return start(line)
    if (flags.mode !== undefined) throw new UsageError(`standin ${mode} sets the mode: leave --mode out.`)
    const origin = `standin ${mode}`
    const modeOptions = Object.entries({ mode, modes: {} }).map(([name, value]) => ({ path: [name], value, origin }))
    return start({ ...line, overrides: [...overrides, ...modeOptions] })
  },
})

export const devCommands = { dev }

/** Resolves when the platform is ready. Rejects with the errors of `openPlatform`. */
async function start(line: CommandLine<typeof runFlags>): Promise<undefined> {
  const { flags } = line
  const log = await createEventLog(flags, process.stdout)
  const printError = (error: unknown) => {
    log.flush()
    console.error(error)
  }
  const startedMs = Date.now()
  const opening = openPlatform({ ...configSources(line), report: printError, warn: printError })
  stopPlatformOnSignals(async graceMs => {
    // If opening fails, the command itself reports it.
    const platform = await opening
    await platform.stop(graceMs)
    const how = { json: flags.json, checks: checksOf(flags), acceptCommand: acceptCommandOf(flags) }
    const exitCode = conclude(endOf(platform, flags.whole), log, how) ? EXIT_FAILED : 0
    const ended = { exitCode, isWhole: flags.whole, isPruning: false, isSure: false }
    if (platform.receipt()) await (await import('./after-run.js')).endRun({ platform, log, ...ended })
    process.exit(exitCode)
  })
  const platform = await opening
  requireUsedFlags(platform, flags)
  // Loaded only now, when the port is open. The app runs elsewhere, so nothing is set yet.
  const { environmentFor } = await import('../environment/index.js')
  const environmentNow = () => environmentFor(platform, undefined, () => false)
  const bannerText = (colors: Colors) => banner(platform, environmentNow(), colors)
  log.event({ event: 'ready', ...readyFacts(platform) }, bannerText)
  logMessages(platform, log)
  logProblems(platform, log, flags)
  if (flags.json || !flags.quiet) logRequests(platform, log, flags)
  else logUnknownPaths(platform, log, { atEnd: false })
  reloadOnChange({ platform, log, bannerText, readAtMs: startedMs })
  // Now, since a start that is killed later would leave nothing for the next one.
  module.flushCompileCache()
}

function readyFacts({ url, authUrl, dashboardUrl, anonKey, serviceKey, apiKey, controlToken, mode, loaded }: Platform) {
  const { publishableKey, secretKey } = loaded.config.auth
  const token = controlToken === '' ? {} : { controlToken }
  const keys = { anonKey, serviceKey, publishableKey, secretKey, apiKey, ...token }
  return { url, authUrl, dashboardUrl, ...keys, mode, pid: process.pid }
}

/** If reloading fails for any reason, the platform keeps its old configuration. */
function problemsOf(error: unknown): readonly Problem[] {
  if (error instanceof ProblemsError) return error.problems
  return [{ origin: 'Standin', sentence: error instanceof PlatformError ? error.message : String(error) }]
}

interface ReloadParts {
  readonly platform: Platform
  readonly log: EventLog
  readonly bannerText: (colors: Colors) => string
  readonly readAtMs: number
}

function reloadOnChange({ platform, log, bannerText, readAtMs }: ReloadParts): void {
  let brokenFiles: readonly string[] = []
  async function reload(): Promise<void> {
    const before = printedValuesOf(platform)
    brokenFiles = []
    try {
      await platform.reload()
    } catch (error) {
      const problems = problemsOf(error)
      if (error instanceof ProblemsError) brokenFiles = error.files
      const end = 'Not reloaded: the last valid configuration is still in use.'
      return log.problem({ event: 'reload-failed', problems }, ({ red }) =>
        [...problems.map(problem => red(problemInWords(problem))), end].join('\n'),
      )
    }
    log.event({ event: 'reloaded', ...readyFacts(platform) }, colors => {
      const { keys, address } = printedValuesOf(platform)
      const restart = 'Changes of host, port and state take effect at the next start.'
      return [
        colors.dim(`Reloaded: ${changesSince(before, platform).join(', ') || 'nothing that is in use has changed'}.`),
        // The keys printed at the start are no longer valid.
        ...(keys === before.keys ? [] : [bannerText(colors)]),
        ...(address === before.address ? [] : [colors.yellow(restart)]),
      ].join('\n')
    })
  }
  watchFiles(() => filesToWatch(platform, brokenFiles), readAtMs, reload)
}

/** The files from which the platform was configured, and those that made a reload fail. */
function filesToWatch({ loaded, textFiles }: Platform, broken: readonly string[]): WatchedFiles {
  const { signingKeys } = loaded.config.auth
  return {
    configFile: loaded.file ?? path.join(loaded.dir, configFileNames[0]),
    otherFiles: [
      // A second one is a mistake.
      ...configFileNames.slice(1).map(name => path.join(loaded.dir, name)),
      ...new Set([...textFiles, ...broken]),
      ...(signingKeys === '' ? [] : [path.resolve(loaded.dir, signingKeys)]),
    ],
    replies: replyFilesOf(loaded).patterns,
  }
}

const printedValuesOf = ({ anonKey, serviceKey, apiKey, rules, loaded: { config } }: Platform) => ({
  keys: `${anonKey} ${serviceKey} ${apiKey}`,
  address: `${config.host} ${config.port} ${config.state}`,
  config,
  rules: textsByFile(rules.list()),
})

const textsByFile = (rules: readonly ListedRule[]): ReadonlyMap<string, string> => {
  const byFile = Map.groupBy(rules, ({ file }) => file ?? '')
  return new Map([...byFile].map(([file, all]) => [file, JSON.stringify(all.map(({ rule }) => rule))]))
}

/** What a reload has changed: options, and files of rules. */
function changesSince(before: ReturnType<typeof printedValuesOf>, platform: Platform): readonly string[] {
  const now = printedValuesOf(platform)
  const files = new Set([...before.rules.keys(), ...now.rules.keys()])
  return [
    ...changedOptions(now.config, before.config),
    ...[...files].filter(file => file !== '' && before.rules.get(file) !== now.rules.get(file)),
  ]
}

/** Installed before the port opens, so that no signal can end the process without a clean stop. */
function stopPlatformOnSignals(stopPlatform: (graceMs: number) => Promise<void>): void {
  let firstAtMs: number | undefined
  const stop = () => {
    const nowMs = performance.now()
    if (firstAtMs === undefined) {
      firstAtMs = nowMs
      stopPlatform(GRACE_MS)
    } else if (nowMs - firstAtMs > ECHO_MS) stopPlatform(0)
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  process.on('SIGHUP', () => {
    // The terminal was closed.
    process.once('exit', endBySignal)
    stop()
  })
}

/** Node crashes when it exits and its terminal is gone. The signal itself, without a handler, ends the process before that. */
function endBySignal(): void {
  process.removeAllListeners('SIGHUP')
  process.kill(process.pid, 'SIGHUP')
}
