/** `standin dev`: starts a platform, says where it is, logs what it does, and stops when it is told to. */
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { configFileName, replyFilesOf } from '../config/load.js'
import { type Problem, ProblemsError, wordProblem } from '../core/problem.js'
import type { Violating, ViolationCounts } from '../core/violation.js'
import type { Receipt } from '../platform/taping.js'
import { openPlatform, type Platform } from '../platform.js'
import { version } from '../version.js'
import type { CommandLine } from './arguments.js'
import { banner } from './banner.js'
import { missText } from './miss.js'
import { colorsFor, createOutput, type Output } from './output.js'
import { hasFailed, receiptText, requireStrictFits } from './receipt.js'
import { messageEvent, messageLine, requestEvent, requestLine } from './request-log.js'
import { hasBroken, requireJudging, violatingEvent, violatingText, violationsText } from './violation.js'

/** How long open streams may go on after the first signal. */
const GRACE_MS = 3000

/** A run that was to be strict, and was not. */
const EXIT_MISSED = 1

/** Ctrl-C reaches a process under npm twice, once from the terminal and once from npm; that is not impatience. */
const ECHO_MS = 200

/** Resolves when the platform is ready. Rejects with what `openPlatform` rejects with. */
export async function dev(commandLine: CommandLine): Promise<void> {
  const output = createOutput(process.stdout)
  const say = commandLine.json ? inJson(output) : inWords(output, commandLine.quiet)
  const readAtMs = Date.now()
  const opening = openPlatform({
    cwd: process.cwd(),
    file: commandLine.config,
    flags: commandLine.overrides,
    env: process.env,
    report: error => console.error(error),
  })
  stopOnSignals(async graceMs => {
    // A platform that cannot be opened has said so itself.
    const platform = await opening
    await platform.stop(graceMs)
    const receipt = platform.receipt()
    const isShort = receipt !== undefined && hasFailed(receipt, commandLine.strict)
    const isBroken = hasBroken(platform, commandLine)
    say.violations(platform.violations.counts(), isBroken)
    if (receipt) say.receipt(receipt, isShort)
    output.flush()
    process.exit(isShort || isBroken ? EXIT_MISSED : 0)
  })
  const platform = await opening
  requireStrictFits(commandLine.strict, platform)
  requireJudging(platform, commandLine)
  say.ready(platform)
  platform.journal.follow(say.request)
  platform.onMessage(say.message)
  platform.onMiss(say.miss)
  platform.violations.onViolating(say.violating)
  await reloadOnChange(platform, readAtMs, say)
}

/** The ways of telling what happens: lines of JSON for programs, lines of words for people. */
interface Say {
  ready(platform: Platform): void
  readonly request: Parameters<Platform['journal']['follow']>[0]
  readonly message: Parameters<Platform['onMessage']>[0]
  readonly miss: Parameters<Platform['onMiss']>[0]
  readonly violating: (violating: Violating) => void
  violations(counts: ViolationCounts, isBroken: boolean): void
  /** One that falls short of what was asked of the run is a problem, and said in any case. */
  receipt(receipt: Receipt, isShort: boolean): void
  reloaded(platform: Platform, changed: Changed): void
  notReloaded(error: unknown): void
}

interface Changed {
  /** The keys that were printed at the start no longer hold. */
  readonly keys: boolean
  /** The address or the place of the state was edited; it stays as it is until the next start. */
  readonly address: boolean
}

function inJson(output: Output): Say {
  const say = (event: object) => output.line(JSON.stringify(event))
  return {
    ready: platform => say({ event: 'ready', ...factsOf(platform) }),
    request: exchange => say(requestEvent(exchange)),
    message: message => say(messageEvent(message)),
    miss: miss => say({ event: 'miss', ...miss }),
    violating: violating => say(violatingEvent(violating)),
    violations: counts => {
      if (Object.values(counts).some(count => count > 0)) say({ event: 'violations', ...counts })
    },
    receipt: receipt => say({ event: 'receipt', ...receipt }),
    reloaded: platform => say({ event: 'reloaded', ...factsOf(platform) }),
    notReloaded: error => say({ event: 'reload-failed', problems: problemsOf(error) }),
  }
}

/** Whatever goes wrong while files are read anew, the platform goes on as it was. */
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

function inWords(output: Output, quiet: boolean): Say {
  const colors = colorsFor(process.stdout)
  const errorColors = colorsFor(process.stderr)
  const unlessQuiet = (text: () => string) => {
    if (!quiet) output.line(text())
  }
  return {
    ready: platform => unlessQuiet(() => banner(platform, version, colors)),
    request: exchange => unlessQuiet(() => requestLine(exchange, colors)),
    message: message => unlessQuiet(() => messageLine(message, colors)),
    miss: miss => console.error(missText(miss, errorColors)),
    violating: violating => console.error(violatingText(violating, errorColors)),
    violations(counts, isBroken) {
      const text = violationsText(counts, colors)
      if (text !== undefined && (isBroken || !quiet)) output.line(text)
    },
    receipt(receipt, isShort) {
      if (isShort || !quiet) output.line(receiptText(receipt, colors))
    },
    reloaded(platform, { keys, address }) {
      unlessQuiet(() => colors.dim('Reloaded.'))
      if (keys) unlessQuiet(() => banner(platform, version, colors))
      if (address) unlessQuiet(() => colors.yellow('host, port and state stay as they are until the next start.'))
    },
    notReloaded(error) {
      for (const problem of problemsOf(error)) console.error(errorColors.red(wordProblem(problem)))
      console.error('Not reloaded: the last good configuration stays in force.')
    },
  }
}

async function reloadOnChange(platform: Platform, readAtMs: number, say: Say): Promise<void> {
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

/** What is to be watched: what the platform was made from, and what kept it from being made anew. */
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

/** Installed before the port opens, so that no moment is left in which a signal would end the process in its own way. */
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
