/** What `standin import` and `standin export` are told: a file, and where the platform is. */
import { UsageError } from '../core/start-error.js'
import type { CommandLine } from './arguments.js'

/** Throws a UsageError for anything but one file. */
export function fileIn({ words: [command, file, ...more] }: CommandLine): string {
  if (file === undefined) throw new UsageError(`standin ${command} needs a file: standin ${command} exchanges.har.`)
  if (more.length > 0)
    throw new UsageError(`standin ${command} takes one file, and no further words such as ${more[0]}.`)
  return file
}

/** The address below which the platform's paths begin. Throws a UsageError for what is none. */
export function baseIn({ given }: CommandLine, configured: string): string | undefined {
  const base = given.get('base')
  if (typeof base !== 'string') return configured || undefined
  if (/^https?:\/\/[^@?#]+$/i.test(base) && URL.canParse(base)) return base
  throw new UsageError(`--base must be an http or https address such as https://platform.example.com, not "${base}".`)
}
