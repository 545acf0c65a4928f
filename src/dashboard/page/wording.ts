/** How the page words callers, durations and sizes. */
import { callerInWords } from '../../core/caller.js'
import type { JournalBrief } from '../../journal/operations.js'

/** A 401 without a caller had no credential. For other statuses, none may be needed, or the one sent identified no one. */
export const callerName = ({ caller, status }: Pick<JournalBrief, 'caller' | 'status'>): string =>
  callerInWords(caller) || (status === 401 ? 'no credential' : 'not identified')

const credentials: Readonly<Record<string, string>> = {
  anon: 'anon key',
  service: 'service key',
  user: 'user token',
  apiKey: 'API key',
}

/** The credentials that an endpoint accepts. */
export const accessInWords = (access: 'anyone' | readonly string[]) =>
  access === 'anyone' ? 'none needed' : access.map(kind => credentials[kind] ?? kind).join(', ')

/** `0.4 ms`, `312 ms`, `1.2 s`, `2 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 0.05) return '<0.1 ms'
  if (ms < 9.95) return `${ms.toFixed(1).replace(/\.0$/, '')} ms`
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1).replace(/\.0$/, '')} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

export const capitalized = (words: string) => words.charAt(0).toUpperCase() + words.slice(1)

/** `312 bytes`, `1.2 KB`, `3.4 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`
  if (bytes < 999_500) return `${(bytes / 1000).toFixed(bytes < 9950 ? 1 : 0)} KB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** `1,012`. */
export const count = new Intl.NumberFormat('en').format

/** `1 request`, `1,012 requests`. */
export const counted = (many: number, one: string) => `${count(many)} ${one}${many === 1 ? '' : 's'}`

/** `18:53:42.117`, in the browser's time zone. */
export function clockTime(at: string): string {
  const when = new Date(at)
  return `${when.toTimeString().slice(0, 8)}.${String(when.getMilliseconds()).padStart(3, '0')}`
}

/** Why the request got this response, in a few words. A fault comes first, since it causes whatever else is wrong. */
export function decisionOf({ error, source, fault, complete, status, missed, openaiRefuses }: JournalBrief): string {
  if (fault !== null) return status === null ? `No response: ${fault}` : complete ? fault : `Cut off: ${fault}`
  if (error !== null) return error
  if (status === null) return 'The client disconnected before a response was sent.'
  const what = source ?? ''
  if (!complete) return `Incomplete: ${what}`
  const decision = missed ? `No rule matched: ${what}` : what
  return openaiRefuses ? `OpenAI refuses this · ${decision}` : decision
}
