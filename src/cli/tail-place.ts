/** Finds out where the Standin is that is to be followed, and what opens its control API. */
import { ProblemsError } from '../check/problem.js'
import { isLoopback } from '../core/loopback.js'
import { UsageError } from '../core/start-error.js'
import { urlHost } from '../server/address.js'
import type { CommandLine } from './arguments.js'
import { load } from './configured.js'

export interface Place {
  readonly url: string
  /** Empty where there is none. */
  readonly token: string
}

/** The flag; the address that `standin exec` and a copied .env give; the one that the configuration of this folder would start on. */
export function placeOf(commandLine: CommandLine): Place {
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

function configured(commandLine: CommandLine, token: string | true | undefined): Place {
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
