/** The flags of `standin tail`: which requests to show, and where the Standin runs that they come from. */
import { ProblemsError } from '../../check/problem.js'
import { isLoopback } from '../../core/origins.js'
import { UsageError } from '../../core/start-error.js'
import { urlHost } from '../../http/address.js'
import { journalFilter } from '../../journal/index.js'
import { type CommandLine, load } from '../arguments.js'

export interface ControlAddress {
  readonly url: string
  /** Empty where there is none. */
  readonly token: string
}

/** The flag; the address that `standin exec` and a copied .env give; the one that the configuration of this folder would start on. */
export function placeOf(commandLine: CommandLine): ControlAddress {
  const { given } = commandLine
  const url = given.get('url') ?? (given.has('port') || given.has('host') ? undefined : fromEnvironment())
  const token = given.get('control-token')
  if (typeof url !== 'string') return configured(commandLine, token)
  const place = addressIn(url)
  if (typeof token === 'string') return { url: place.origin, token }
  // What is configured here is for what runs here.
  return {
    url: place.origin,
    token: isLoopback(place.hostname) ? configuredToken(commandLine) : '',
  }
}

/** Of a live platform, which may stand there as well, nobody can be told what it is asked. */
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
    // It is said where to look: what is wrong with the configuration of this folder does not matter.
    if (error instanceof ProblemsError) return ''
    throw error
  }
}

/** Here --mode says which requests are shown, and not how anything is started. */
const withoutFilter = ({ config, overrides }: CommandLine) =>
  load({ config, overrides: overrides.filter(({ origin }) => origin !== '--mode') })

/** What `standin tail` is to show: the flags, as the journal's query has them. */
export interface TailOptions {
  /** Of the journal's query. */
  readonly filter: Readonly<Record<string, string>>
  /** How many of the last ones come first. */
  readonly last: number
}

/** Throws a UsageError for a number that is none; what is wrong with the rest the journal says. */
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
