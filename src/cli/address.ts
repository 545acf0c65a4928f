/** Finds the address of a running Standin: from --url, the environment, or the configuration in this folder. */
import { UsageError } from '../check/problem.js'
import { isLoopback } from '../core/origins.js'
import { urlHost } from '../http/address.js'
import type { addressFlags, CommandLine } from './command.js'
import { load } from './load.js'

type AddressLine = CommandLine<typeof addressFlags>

/**
 * `urlFlag` is the value of --url. PLATFORM_BASE_URL is set by `standin exec` or a copied .env. The credentials of the
 * configuration belong to the address only if `isConfigured`. Throws a UsageError if there is no address.
 */
export function addressFor(line: AddressLine, urlFlag: string | undefined) {
  const { port, host } = line.flags
  const url = urlFlag ?? (port === undefined && host === undefined ? fromEnvironment() : undefined)
  return url === undefined
    ? { url: configuredAddress(line), isConfigured: true }
    : { url: parseAddress(url), isConfigured: false }
}

/** An address that is not on this machine is ignored: it may be the live platform. */
function fromEnvironment(): string | undefined {
  const url = process.env.PLATFORM_BASE_URL ?? ''
  if (!URL.canParse(url)) return undefined
  return isLoopback(new URL(url).hostname) ? url : undefined
}

function parseAddress(input: string): URL {
  if (/^https?:\/\//i.test(input) && URL.canParse(input)) return new URL(input)
  throw new UsageError(`--url must be an http or https address such as http://127.0.0.1:4100, not "${input}".`)
}

function configuredAddress(line: AddressLine): URL {
  const { config } = load(line)
  if (config.port === 0) {
    throw new UsageError(
      'The configured port is 0, so Standin uses any free one. Give the address with --url http://127.0.0.1:PORT.',
    )
  }
  return new URL(`http://${urlHost(config.host)}:${config.port}`)
}

/** The reason for a failed `fetch` in a few words: the system's error code, if there is one. */
export function connectionFailure(error: unknown): string {
  const { message, cause, name } = error as Error & { cause?: { code?: string; message?: string } }
  return cause?.code ?? (name === 'TimeoutError' ? 'no answer' : (cause?.message ?? message))
}
