/** Finds the address of a running Standin: from --url, the environment, or the configuration in this folder. */
import { UsageError } from '../check/problem.js'
import { isLoopback } from '../core/origins.js'
import { urlHost } from '../http/address.js'
import type { CommandLine } from './command.js'
import { load } from './load.js'

/**
 * `given` is the value of --url. The environment is the one that `standin exec` or a copied .env sets. The credentials
 * of the configuration belong to the address only if `isConfigured`.
 */
export function addressFor(line: CommandLine, given: string | undefined) {
  const { port, host } = line.flags
  const url = given ?? (port === undefined && host === undefined ? fromEnvironment() : undefined)
  return url === undefined
    ? { url: configured(line), isConfigured: true }
    : { url: addressIn(url), isConfigured: false }
}

/** Ignored if it is not on this machine: it may name the live platform. */
function fromEnvironment(): string | undefined {
  const url = process.env.PLATFORM_BASE_URL ?? ''
  if (!URL.canParse(url)) return undefined
  return isLoopback(new URL(url).hostname) ? url : undefined
}

function addressIn(written: string): URL {
  if (/^https?:\/\//i.test(written) && URL.canParse(written)) return new URL(written)
  throw new UsageError(`--url must be an http or https address such as http://127.0.0.1:4100, not "${written}".`)
}

function configured(line: CommandLine): URL {
  const { config } = load(line)
  if (config.port === 0) {
    throw new UsageError('The configuration uses any free port. Give the address with --url http://127.0.0.1:PORT.')
  }
  return new URL(`http://${urlHost(config.host)}:${config.port}`)
}

export function whyLost(error: unknown): string {
  const { message, cause, name } = error as Error & { cause?: { code?: string; message?: string } }
  return cause?.code ?? (name === 'TimeoutError' ? 'no answer' : (cause?.message ?? message))
}
