/**
 * `standin dev`, `record` and `replay`: starts a platform, prints its address, logs its requests, and stops on a
 * signal.
 */
import type { Socket } from 'node:net'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Problem, ProblemsError, problemInWords, UsageError } from '../check/problem.js'
import { configFileName, replyFilesOf } from '../config/load.js'
import { PlatformError } from '../core/errors.js'
import { once } from '../core/work.js'
import { openPlatform, type Platform } from '../platform.js'
import { version } from '../version.js'
import { type CommandLine, command, runFlags, sharedFlags, sourcesOf } from './command.js'
import type { EventLog } from './event-log.js'
import type { Colors } from './output.js'
import { ECHO_MS } from './stop-signals.js'

/** How long open streams may continue after the first signal. */
const GRACE_MS = 3000

/** The exit code when --strict or --fail-on-violation has failed. */
const EXIT_FAILED = 1

/** From this number of open connections on, V8 may grow the space for new objects. */
const CROWD = 3000

const flags = { ...sharedFlags, ...runFlags }

type Line = CommandLine<typeof flags>

const dev = command({
  flags,
  examples: [
    ['standin', 'start on http://127.0.0.1:4100, and print its keys'],
    ['standin --port 0 --json', 'start on any free port; the first line says which, for scripts'],
  ],
  run: start,
})

/** A command whose name is its mode. */
const inMode = (mode: string) =>
  command({
    flags: { ...flags, mode: { ...sharedFlags.mode, isHidden: true } },
    run(line) {
      const origin = `standin ${mode}`
      if (line.flags.mode !== undefined)
        throw new UsageError(`${origin} is the mode ${mode} already: leave out --mode.`)
      const own = Object.entries({ mode, modes: {} }).map(([name, value]) => ({ path: [name], value, origin }))
      return start({ ...line, overrides: [...line.overrides, ...own] })
    },
  })

export const commands = { dev, record: inMode('record'), replay: inMode('replay') }

/** Resolves when the platform is ready. Rejects with the errors of `openPlatform`. */
async function start(line: Line): Promise<undefined> {
  const { flags } = line
  let log: EventLog | undefined
  const beside = (value: unknown) => {
    log?.interrupt()
    console.error(value)
  }
  const readAtMs = Date.now()
  const opening = openPlatform({ ...sourcesOf(line), report: beside, warn: beside })
  // Loading the log takes time, and requests can be answered before it is loaded.
  const loading = once(() => loadLog(flags))
  stopOnSignals(async graceMs => {
    // If opening fails, the command itself reports it.
    const platform = await opening
    const { log, conclude } = await loading()
    await platform.stop(graceMs)
    process.exit(conclude(platform, log, flags) ? EXIT_FAILED : 0)
  })
  const platform = await opening
  tuneGarbageCollection()
  const { tellRequests, tellMessages, tellProblems, requireChecks, banner, ...loaded } = await loading()
  log = loaded.log
  requireChecks(platform, flags)
  const inWords = (colors: Colors) => banner(platform, version, colors)
  log.say({ event: 'ready', ...factsOf(platform) }, inWords)
  tellMessages(platform, log)
  tellProblems(platform, log)
  const renew = flags.quiet && !flags.json ? async () => {} : await tellRequests(platform, log, flags)
  await reloadOnChange({ platform, log, inWords, readAtMs, renew })
}

/**
 * Tells V8 how our objects live, which it would conclude wrongly from the first exchanges, because they stay in the
 * journal. Told only when everything is loaded: with thousands of rules, V8 needs the space that it has grown by then.
 *
 * - It would allocate all exchanges as old objects, which only a full garbage collection frees, along with everything
 *   they refer to. That costs up to a quarter of the throughput.
 * - It would grow the space for new objects, and with it the process by a quarter. Requests are over before that helps;
 *   only thousands of open streams need the space, or the slowest of them falls further behind.
 */
function tuneGarbageCollection(): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  const growBy = (factor: number) => setFlagsFromString(`--semi-space-growth-factor=${factor}`)
  setFlagsFromString('--no-allocation-site-pretenuring')
  growBy(1)
  let connections = 0
  process.getBuiltinModule('node:diagnostics_channel').subscribe('net.server.socket', message => {
    const { socket } = message as { socket: Socket }
    if (++connections === CROWD) growBy(2)
    socket.once('close', () => {
      if (connections-- === CROWD) growBy(1)
    })
  })
}

async function loadLog(flags: Line['flags']) {
  const [events, { banner }, { requireChecks }] = await Promise.all([
    import('./event-log.js'),
    import('./banner.js'),
    import('./receipt.js'),
  ])
  return { ...events, banner, requireChecks, log: await events.createEventLog(flags, process.stdout, true) }
}

function factsOf({ url, authUrl, dashboardUrl, anonKey, serviceKey, apiKey, controlToken, mode, loaded }: Platform) {
  const { publishableKey, secretKey } = loaded.config.auth
  return {
    ...{ url, authUrl, dashboardUrl, anonKey, serviceKey, publishableKey, secretKey, apiKey },
    ...(controlToken !== '' && { controlToken }),
    ...{ mode, pid: process.pid },
  }
}

/** If reloading fails for any reason, the platform keeps its old configuration. */
function problemsOf(error: unknown): readonly Problem[] {
  if (error instanceof ProblemsError) return error.problems
  return [{ origin: 'Standin', sentence: error instanceof PlatformError ? error.message : String(error) }]
}

interface Watched {
  readonly platform: Platform
  readonly log: EventLog
  readonly inWords: (colors: Colors) => string
  readonly readAtMs: number
  readonly renew: () => Promise<void>
}

async function reloadOnChange(parts: Watched): Promise<void> {
  const { platform, log, readAtMs, renew } = parts
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
    const before = printedOf(platform)
    let broken: readonly string[] = []
    try {
      await platform.reload()
      await renew()
      tellReloaded(parts, before)
    } catch (error) {
      const problems = problemsOf(error)
      log.problem({ event: 'reload-failed', problems }, ({ red }) =>
        [
          ...problems.map(problem => red(problemInWords(problem))),
          'Not reloaded: the last valid configuration is still in use.',
        ].join('\n'),
      )
      if (error instanceof ProblemsError) broken = error.files
    }
    follow({ ...filesOf(platform, broken), readAtMs: nowMs })
  }
}

function tellReloaded({ platform, log, inWords }: Watched, before: ReturnType<typeof printedOf>): void {
  log.say({ event: 'reloaded', ...factsOf(platform) }, colors => {
    const lines = [colors.dim('Reloaded.')]
    const { keys, address } = printedOf(platform)
    // The keys that were printed at the start no longer work.
    if (keys !== before.keys) lines.push(inWords(colors))
    if (address !== before.address)
      lines.push(colors.yellow('host, port and state do not change until the next start.'))
    return lines.join('\n')
  })
}

/** The files to watch: those from which the platform was configured, and those that made a reload fail. */
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

const printedOf = ({ anonKey, serviceKey, apiKey, loaded: { config } }: Platform) => ({
  keys: `${anonKey} ${serviceKey} ${apiKey}`,
  address: `${config.host} ${config.port} ${config.state}`,
})

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
  process.on('SIGHUP', () => {
    // The terminal was closed. Printing fails from now on, which must not end the process before it has stopped.
    process.stdout.removeAllListeners('error').on('error', () => {})
    process.once('exit', endBySignal)
    stop()
  })
}

/** Node crashes when it exits and its terminal is gone. The signal itself, without a handler, ends the process before that. */
function endBySignal(): void {
  process.removeAllListeners('SIGHUP')
  process.kill(process.pid, 'SIGHUP')
}
