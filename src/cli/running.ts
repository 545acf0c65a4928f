/** Where a Standin runs, for commands that talk to one. */
import { UsageError } from '../check/problem.js'
import { isLoopback } from '../core/origins.js'
import { urlHost } from '../http/listen.js'
import { addressFlags, type CommandLine, type ConfigLine, textFlag } from './command.js'
import { loadedConfig } from './load.js'

export const runningFlags = {
  ...addressFlags,
  url: textFlag('URL', 'Address of Standin (PLATFORM_BASE_URL, or as configured)'),
}

/**
 * The address of a running Standin: from --url, the environment, or the configuration in this folder. Throws a UsageError if there is none.
 */
export function runningAddress(line: CommandLine<typeof runningFlags>) {
  const { url, port, host } = line.flags
  const given = url ?? (port === undefined && host === undefined ? urlInEnvironment() : undefined)
  if (given === undefined) return configuredAddress(line)
  if (/^https?:\/\//i.test(given) && URL.canParse(given)) return new URL(given)
  throw new UsageError(`--url must be an http or https address such as http://127.0.0.1:4100, not "${given}".`)
}

/**
 * From PLATFORM_BASE_URL, as `standin exec` or a copied .env sets it. An address that is not on this machine is ignored:
 * it may be the live platform.
 */
function urlInEnvironment(): string | undefined {
  const url = process.env.PLATFORM_BASE_URL ?? ''
  if (!URL.canParse(url)) return undefined
  return isLoopback(new URL(url).hostname) ? url : undefined
}

/** The address in the configuration. Throws a UsageError if its port is any free one. */
export function configuredAddress(line: ConfigLine): URL {
  const { config } = loadedConfig(line)
  if (config.port === 0) {
    throw new UsageError(
      'The configured port is 0, so Standin uses any free one. Give the address with --url http://127.0.0.1:PORT.',
    )
  }
  return new URL(`http://${urlHost(config.host)}:${config.port}`)
}

/** Why a request failed in a few words: the system's error code, if there is one. */
export function connectionFailure(error: unknown): string {
  const { message, code, cause } = error as NodeJS.ErrnoException & { cause?: { code?: string; message?: string } }
  const itsCode = code ?? cause?.code
  if (/^UND_ERR_\w+_TIMEOUT$/.test(itsCode ?? '')) return 'no answer'
  return itsCode ?? cause?.message ?? message
}
