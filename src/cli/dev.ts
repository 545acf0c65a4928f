/** `standin dev`: starts a platform, says where it is, logs what it does, and stops when it is told to. */
import path from 'node:path'
import { configFileName } from '../config/load.js'
import { ProblemsError, wordProblem } from '../core/problem.js'
import { openPlatform, type Platform } from '../platform.js'
import { version } from '../version.js'
import type { CommandLine } from './arguments.js'
import { banner } from './banner.js'
import { colorsFor, createOutput, type Output } from './output.js'
import { requestEvent, requestLine } from './request-log.js'

/** How long open streams may go on after the first signal. */
const GRACE_MS = 3000

/** Ctrl-C reaches a process under npm twice, once from the terminal and once from npm; that is not impatience. */
const ECHO_MS = 200

/** Resolves when the platform is ready. Rejects with what `openPlatform` rejects with. */
export async function dev(commandLine: CommandLine): Promise<void> {
  const platform = await openPlatform({
    cwd: process.cwd(),
    file: commandLine.config,
    flags: commandLine.overrides,
    env: process.env,
    report: error => console.error(error),
  })
  const output = createOutput(process.stdout)
  const say = commandLine.json ? inJson(output) : inWords(output, commandLine.quiet)
  say.ready(platform)
  platform.journal.follow(say.request)
  stopOnSignals(platform, output)
  await reloadOnChange(platform, say)
}

/** The ways of telling what happens: lines of JSON for programs, lines of words for people. */
interface Say {
  ready(platform: Platform): void
  readonly request: Parameters<Platform['journal']['follow']>[0]
  reloaded(platform: Platform, changed: Changed): void
  notReloaded(error: ProblemsError): void
}

interface Changed {
  /** The keys that were printed at the start no longer hold. */
  readonly keys: boolean
  /** The address was edited; it stays as it is until the next start. */
  readonly address: boolean
}

function inJson(output: Output): Say {
  const say = (event: object) => output.line(JSON.stringify(event))
  return {
    ready: platform => say({ event: 'ready', ...factsOf(platform) }),
    request: exchange => say(requestEvent(exchange)),
    reloaded: platform => say({ event: 'reloaded', ...factsOf(platform) }),
    notReloaded: ({ problems }) => say({ event: 'reload-failed', problems }),
  }
}

function factsOf({ url, authUrl, dashboardUrl, anonKey, serviceKey, apiKey, mode }: Platform) {
  return { url, authUrl, dashboardUrl, anonKey, serviceKey, apiKey, mode, pid: process.pid }
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
    reloaded(platform, { keys, address }) {
      unlessQuiet(() => colors.dim('Reloaded.'))
      if (keys) unlessQuiet(() => banner(platform, version, colors))
      if (address) unlessQuiet(() => colors.yellow('host and port stay as they are until the next start.'))
    },
    notReloaded({ problems }) {
      for (const problem of problems) console.error(errorColors.red(wordProblem(problem)))
      console.error('Not reloaded: the last good configuration stays in force.')
    },
  }
}

async function reloadOnChange(platform: Platform, say: Say): Promise<void> {
  const { watchFiles } = await import('./watch.js')
  const watched = () => {
    const { file, dir, config } = platform.loaded
    const replies = typeof config.replies === 'string' ? [config.replies] : config.replies
    return { configFile: file ?? path.join(dir, configFileName), replies }
  }
  let unwatch = await watchFiles(watched(), changed)
  let reloading = Promise.resolve()

  function changed() {
    reloading = reloading.then(reload)
  }

  async function reload() {
    const before = {
      config: platform.loaded.config,
      keys: `${platform.anonKey} ${platform.apiKey}`,
      files: JSON.stringify(watched()),
    }
    try {
      await platform.reload()
    } catch (error) {
      if (!(error instanceof ProblemsError)) throw error
      return say.notReloaded(error)
    }
    const { host, port } = platform.loaded.config
    const address = host !== before.config.host || port !== before.config.port
    say.reloaded(platform, { keys: `${platform.anonKey} ${platform.apiKey}` !== before.keys, address })
    if (JSON.stringify(watched()) === before.files) return
    await unwatch()
    unwatch = await watchFiles(watched(), changed)
  }
}

function stopOnSignals(platform: Platform, output: Output): void {
  let firstAtMs: number | undefined
  const stop = () => {
    const nowMs = performance.now()
    if (firstAtMs === undefined) {
      firstAtMs = nowMs
      platform.stop(GRACE_MS).then(leave)
    } else if (nowMs - firstAtMs > ECHO_MS) leave()
  }
  const leave = () => {
    output.flush()
    process.exit(0)
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
}
