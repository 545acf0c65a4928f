/** The flags of `standin tail`: which requests to show, and where Standin runs. */
import { ProblemsError, UsageError } from '../../check/problem.js'
import { isLoopback } from '../../core/origins.js'
import { urlHost } from '../../http/address.js'
import { journalFilter } from '../../journal/index.js'
import { type CommandLine, load } from '../arguments.js'

export interface ControlAddress {
  readonly url: string
  /** Empty if there is none. */
  readonly token: string
}

/** From --url, else from the environment that `standin exec` or a copied .env sets, else from the configuration of this folder. */
export function placeOf(commandLine: CommandLine): ControlAddress {
  const { given } = commandLine
  const url = given.get('url') ?? (given.has('port') || given.has('host') ? undefined : fromEnvironment())
  const token = given.get('control-token')
  if (typeof url !== 'string') return configured(commandLine, token)
  const place = addressIn(url)
  if (typeof token === 'string') return { url: place.origin, token }
  // The configured token is only sent to this machine.
  return {
    url: place.origin,
    token: isLoopback(place.hostname) ? configuredToken(commandLine) : '',
  }
}

/** Ignored if it is not on this machine: it may name the live platform, which has no journal. */
function fromEnvironment(): string | undefined {
  const url = process.env.PLATFORM_BASE_URL ?? ''
  if (!URL.canParse(url)) return undefined
  return isLoopback(new URL(url).hostname) ? url : undefined
}

function addressIn(written: string): URL {
  if (/^https?:\/\//i.test(written) && URL.canParse(written)) return new URL(written)
  throw new UsageError(`--url must be an http or https address such as http://127.0.0.1:4100, not "${written}".`)
}

function configured(commandLine: CommandLine, token: string | true | undefined): ControlAddress {
  const { config } = withoutFilter(commandLine)
  if (config.port === 0) {
    throw new UsageError('The configuration takes any free port: say which with --url http://127.0.0.1:PORT.')
  }
  return {
    url: `http://${urlHost(config.host)}:${config.port}`,
    token: typeof token === 'string' ? token : config.controlToken,
  }
}

function configuredToken(commandLine: CommandLine): string {
  try {
    return withoutFilter(commandLine).config.controlToken
  } catch (error) {
    // The address is known, so a broken configuration in this folder does not matter.
    if (error instanceof ProblemsError) return ''
    throw error
  }
}

/** Here --mode filters requests; it does not configure a platform. */
const withoutFilter = ({ config, overrides }: CommandLine) =>
  load({ config, overrides: overrides.filter(({ origin }) => origin !== '--mode') })

/** What `standin tail` shows: the flags as a journal query. */
export interface TailOptions {
  /** Parameters of the journal query. */
  readonly filter: Readonly<Record<string, string>>
  /** How many of the latest requests are shown first. */
  readonly last: number
}

/** Throws a UsageError for an invalid number. The journal checks the other values. */
export function tailOptionsIn({ given }: CommandLine): TailOptions {
  const values = Object.keys(journalFilter.entries).flatMap(name => {
    const value = given.get(name)
    return value === undefined ? [] : [[name, String(value)] as const]
  })
  return { filter: Object.fromEntries(values), last: lastIn(given.get('last')) }
}

function lastIn(written: string | true = '0'): number {
  const last = /^\d{1,4}$/.test(String(written)) ? Number(written) : -1
  if (last >= 0 && last <= 1000) return last
  throw new UsageError(`--last must be a whole number from 0 to 1000, not "${written}".`)
}
