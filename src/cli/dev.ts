/** `standin dev`: starts a platform, prints where it is, logs its requests, and stops on a signal. */
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Violating, ViolationCounts } from '../check/finding.js'
import { type Problem, ProblemsError, wordProblem } from '../check/problem.js'
import { configFileName, replyFilesOf } from '../config/load.js'
import { openPlatform, type Platform } from '../platform.js'
import type { Receipt } from '../recordings/index.js'
import { version } from '../version.js'
import type { CommandLine } from './arguments.js'
import { banner } from './banner.js'
import { followRequests, loadBodyLines } from './log-line.js'
import { createLogLines } from './log-lines.js'
import { colorsFor, createOutput, isScreen, jsonLine, sizeOf, type TerminalOutput } from './output.js'
import { hasFailed, missText, receiptText, requireStrictFits } from './receipt.js'
import { violatingText, violationsText } from './report.js'
import { messageEvent, messageLine, requestEvent } from './request-log.js'
import { ECHO_MS } from './stop-signals.js'
import { hasBroken, requireJudging } from './violations.js'

/** How long open streams may continue after the first signal. */
const GRACE_MS = 3000

/** The exit code when --strict or --fail-on-violation has failed. */
const EXIT_MISSED = 1

/** Resolves when the platform is ready. Rejects with the errors of `openPlatform`. */
export async function dev(commandLine: CommandLine): Promise<void> {
  const output = createOutput(process.stdout)
  const isVerbose = commandLine.given.has('verbose')
  const say = commandLine.json ? inJson(output) : await inWords(output, commandLine.quiet, isVerbose)
  const beside = (said: unknown) => {
    say.interrupt()
    console.error(said)
  }
  const readAtMs = Date.now()
  const opening = openPlatform({
    cwd: process.cwd(),
    file: commandLine.config,
    flags: commandLine.overrides,
    env: process.env,
    report: beside,
    warn: beside,
  })
  stopOnSignals(async graceMs => {
    // If opening fails, the command itself reports it.
    const platform = await opening
    await platform.stop(graceMs)
    const receipt = platform.receipt()
    const isShort = receipt !== undefined && hasFailed(receipt, commandLine.strict)
    say.end()
    const isBroken = hasBroken(platform, commandLine)
    say.violations(platform.violations.counts(), isBroken)
    if (receipt) say.receipt(receipt, isShort)
    output.flush()
    process.exit(isShort || isBroken ? EXIT_MISSED : 0)
  })
  const platform = await opening
  requireStrictFits(commandLine.strict, platform)
  requireJudging(platform, commandLine)
  const isSilent = commandLine.quiet && !commandLine.json
  const renew = isSilent ? async () => {} : await followRequests(platform, isVerbose, say.request)
  say.ready(platform)
  platform.onMessage(say.message)
  platform.onMiss(say.miss)
  platform.violations.onViolating(say.violating)
  await reloadOnChange({ platform, readAtMs, renew }, say)
}

/** Reports events: as JSON lines for programs, or in words for people. */
interface Say {
  ready(platform: Platform): void
  readonly request: Parameters<typeof followRequests>[2]
  readonly message: Parameters<Platform['onMessage']>[0]
  readonly miss: Parameters<Platform['onMiss']>[0]
  readonly violating: (violating: Violating) => void
  violations(counts: ViolationCounts, isBroken: boolean): void
  /** `isShort` means that --strict has failed. That is printed even with --quiet. */
  receipt(receipt: Receipt, isShort: boolean): void
  reloaded(platform: Platform, changed: Changed): void
  notReloaded(error: unknown): void
  /** Called before other text is written to the same terminal. */
  interrupt(): void
  /** Writes what has been held back. */
  end(): void
}

interface Changed {
  /** The keys that were printed at the start no longer work. */
  readonly keys: boolean
  /** `host`, `port` or `state` was edited. They change only at the next start. */
  readonly address: boolean
}

function inJson(output: TerminalOutput): Say {
  const say = (event: object) => output.line(jsonLine(event))
  return {
    ready: platform => say({ event: 'ready', ...factsOf(platform) }),
    request: (told, entry) => say(requestEvent(told, entry)),
    message: message => say(messageEvent(message)),
    miss: miss => say({ event: 'miss', ...miss }),
    violating: violating => say({ event: 'violation', ...violating }),
    violations: counts => {
      if (Object.values(counts).some(count => count > 0)) say({ event: 'violations', ...counts })
    },
    receipt: receipt => say({ event: 'receipt', ...receipt }),
    reloaded: platform => say({ event: 'reloaded', ...factsOf(platform) }),
    notReloaded: error => say({ event: 'reload-failed', problems: problemsOf(error) }),
    interrupt() {},
    end() {},
  }
}

/** If reloading fails for any reason, the platform keeps its old configuration. */
function problemsOf(error: unknown): readonly Problem[] {
  return error instanceof ProblemsError ? error.problems : [{ origin: 'Standin', sentence: String(error) }]
}

function factsOf({ url, authUrl, dashboardUrl, anonKey, serviceKey, apiKey, controlToken, mode, loaded }: Platform) {
  const { publishableKey, secretKey } = loaded.config.auth
  return {
    ...{ url, authUrl, dashboardUrl, anonKey, serviceKey, publishableKey, secretKey, apiKey },
    ...(controlToken !== '' && { controlToken }),
    ...{ mode, pid: process.pid },
  }
}

async function inWords(output: TerminalOutput, quiet: boolean, isVerbose: boolean): Promise<Say> {
  const { stdout, stderr } = process
  const colors = colorsFor(stdout)
  const errorColors = colorsFor(stderr)
  const bodies = await loadBodyLines(isVerbose)
  const log = createLogLines({
    output,
    paper: () => ({ colors, ...sizeOf(stdout) }),
    isErasable: isScreen(stdout),
  })
  // After a resize, lines wrap differently and can no longer be overwritten.
  stdout.on('resize', log.resized)
  const unlessQuiet = (text: () => string) => {
    if (!quiet) log.line(text())
  }
  const problem = (text: string) => {
    log.interrupt()
    console.error(text)
  }
  return {
    ready: platform => unlessQuiet(() => banner(platform, version, colors)),
    request: (told, entry) => log.request(told, entry && bodies?.(entry, colors)),
    message: message => unlessQuiet(() => messageLine(message, colors)),
    miss: miss => problem(missText(miss, errorColors)),
    violating: violating => problem(violatingText(violating, errorColors)),
    violations(counts, isBroken) {
      const text = violationsText(counts, colors)
      if (text !== undefined && (isBroken || !quiet)) log.line(text)
    },
    receipt(receipt, isShort) {
      if (isShort || !quiet) log.line(receiptText(receipt, colors))
    },
    reloaded(platform, { keys, address }) {
      unlessQuiet(() => colors.dim('Reloaded.'))
      if (keys) unlessQuiet(() => banner(platform, version, colors))
      if (address) unlessQuiet(() => colors.yellow('host, port and state stay as they are until the next start.'))
    },
    notReloaded(error) {
      for (const found of problemsOf(error)) problem(errorColors.red(wordProblem(found)))
      problem('Not reloaded: the last good configuration stays in force.')
    },
    interrupt: log.interrupt,
    end: log.end,
  }
}

interface Watched {
  readonly platform: Platform
  readonly readAtMs: number
  /** Called after each reload. */
  readonly renew: () => Promise<void>
}

async function reloadOnChange({ platform, readAtMs, renew }: Watched, say: Say): Promise<void> {
  const { watchFiles } = await import('./watch.js')
  let watched = { ...filesOf(platform), readAtMs }
  let unwatch = watchFiles(watched, changed)
  let reloading = Promise.resolve()

  function follow(files: typeof watched) {
    if (isDeepStrictEqual({ ...files, readAtMs: watched.readAtMs }, watched)) return
    unwatch()
    watched = files
    unwatch = watchFiles(files, changed)
  }

  function changed() {
    reloading = reloading.then(reload)
  }

  async function reload() {
    const nowMs = Date.now()
    const before = { address: addressOf(platform), keys: keysOf(platform) }
    let broken: readonly string[] = []
    try {
      await platform.reload()
      await renew()
      say.reloaded(platform, {
        keys: keysOf(platform) !== before.keys,
        address: addressOf(platform) !== before.address,
      })
    } catch (error) {
      say.notReloaded(error)
      if (error instanceof ProblemsError) broken = error.files
    }
    follow({ ...filesOf(platform, broken), readAtMs: nowMs })
  }
}

/** The files to watch: those the platform was made from, and those that made a reload fail. */
function filesOf({ loaded, textFiles }: Platform, broken: readonly string[] = []) {
  const { signingKeys } = loaded.config.auth
  return {
    configFile: loaded.file ?? path.join(loaded.dir, configFileName),
    more: [
      ...new Set([...textFiles, ...broken]),
      ...(signingKeys === '' ? [] : [path.resolve(loaded.dir, signingKeys)]),
    ],
    replies: replyFilesOf(loaded).patterns,
  }
}

const addressOf = ({ loaded: { config } }: Platform) => `${config.host} ${config.port} ${config.state}`
const keysOf = ({ anonKey, serviceKey, apiKey }: Platform) => `${anonKey} ${serviceKey} ${apiKey}`

/** Installed before the port opens, so that no signal can end the process without a clean stop. */
function stopOnSignals(leave: (graceMs: number) => Promise<void>): void {
  let firstAtMs: number | undefined
  const stop = () => {
    const nowMs = performance.now()
    if (firstAtMs === undefined) {
      firstAtMs = nowMs
      leave(GRACE_MS)
    } else if (nowMs - firstAtMs > ECHO_MS) leave(0)
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
}
