/** The run that the tests of this process belong to: that of `standin exec`, or one that the environment asks for. */
import path from 'node:path'
import { exactJsonOf, stringifyExact } from '../core/json.js'
import { type Override, RUN } from '../platform/config/load.js'
import { mayHoldSecret } from '../platform/config/options.js'
import type { PlatformSources } from '../platform.js'
import type { JoinedRun } from '../run/join.js'

/** How the tests of this process ask for a mode if nothing else has started them. */
const MODE = 'STANDIN_MODE'

interface Asked {
  /** The configuration file that a test names. */
  readonly config: string | undefined
  /** The options that a test sets itself. */
  readonly own: readonly Override[]
  /** The file of the test. */
  readonly file: string
}

interface RunOfTests {
  /** Where the configuration comes from. */
  readonly sources: Pick<PlatformSources, 'cwd' | 'file' | 'env' | 'runName'> & { readonly flags: readonly Override[] }
  /** The run of `standin exec`. */
  readonly joined?: JoinedRun
  /** The mode that the environment asks for. */
  readonly mode?: string
}

/** Whose state and port a test does not share. */
const ownState: Override = { path: ['state'], value: 'memory', origin: 'the tests' }

/** Joins the run of `standin exec`, if it has started this process. What a test sets itself comes before what the run says. */
export async function runOfTests({ config, own, file }: Asked): Promise<RunOfTests> {
  const cwd = process.cwd()
  const { [RUN]: address, [MODE]: mode } = process.env
  if (address !== undefined) {
    const { joinRun } = await import('../run/join.js')
    const joined = await joinRun(address, { file: path.relative(cwd, file), own: own.map(inWords) })
    return { joined, sources: sourcesIn(joined.handed, { cwd, config, own }) }
  }
  if (mode !== undefined && config === undefined)
    return { mode, sources: { cwd, env: process.env, flags: [ownState, ...own] } }
  const state = config === undefined ? [ownState] : []
  return { sources: { cwd, file: config ?? false, flags: [...state, ...own], ...(config && { env: process.env }) } }
}

function sourcesIn(handed: JoinedRun['handed'], { cwd, config, own }: Omit<Asked, 'file'> & { readonly cwd: string }) {
  const { folder, run: runName } = handed
  const optionsIn = (json: string) => exactJsonOf(json) as readonly Override[]
  // Another file counts itself, apart from the command line.
  if (config !== undefined && path.resolve(cwd, config) !== handed.file)
    return { cwd, file: config, env: process.env, runName, flags: [...optionsIn(handed.overrides), ...own] }
  const inRunFolder = own.map(one => inFolder(one, cwd))
  return { cwd: folder, file: false, runName, flags: [...optionsIn(handed.options), ownState, ...inRunFolder] } as const
}

/** The folder of recordings that a test names is relative to where the test runs. */
function inFolder(own: Override, cwd: string): Override {
  const isFolder = own.path.join('.') === 'recordings.dir' && typeof own.value === 'string'
  return isFolder ? { ...own, value: path.resolve(cwd, String(own.value)) } : own
}

const inWords = ({ path: option, value }: Override) => ({
  name: option.join('.'),
  value: mayHoldSecret(option) ? '' : stringifyExact(value),
})
