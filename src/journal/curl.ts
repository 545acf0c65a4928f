/** Writes an exchange as a curl command that repeats the request. It contains no secrets. */
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { Caller, Exchange } from '../core/exchange.js'
import { unverifiedFields } from '../core/json.js'
import { type Redact, type Redaction, redactionOf } from '../redact/index.js'
import { isRepeatable } from './facts.js'

/** Hop-by-hop headers, headers that only identify the client, and credentials. */
const omittedHeaders =
  /^(authorization|apikey|host|connection|content-length|transfer-encoding|keep-alive|te|trailer|upgrade|expect|accept-encoding|user-agent|proxy-.*|x-stainless-.*|sec-.*)$/

export function curlOf(exchange: Exchange, redact: Redact, url: string): string {
  const redaction = redactionOf(exchange, redact)
  const { prefix, argument } = bodyArgument(exchange, redaction)
  const parts = [
    ['curl', ...curlFlags(exchange, argument !== undefined), quoted(url + curlTarget(exchange, redaction))].join(' '),
    ...credentialArguments(exchange),
    ...headerArguments(exchange.headers, redaction, argument !== undefined),
    ...(argument === undefined ? [] : [argument]),
  ]
  return `${prefix}${parts.join(' \\\n  ')}\n`
}

function curlFlags({ method, path, query, headers, outcome }: Exchange, hasBody: boolean): readonly string[] {
  const { answer } = outcome ?? {}
  const isStream = /event-stream/.test(answer?.kind === 'reply' ? answer.contentType : (answer?.headers.join() ?? ''))
  const usual = hasBody ? 'POST' : 'GET'
  return [
    // Streams should be shown as they arrive.
    ...(isStream || /event-stream/.test(headers.accept ?? '') ? ['-N'] : []),
    ...(/[[\]{}]/.test(path + query) ? ['--globoff'] : []),
    ...(/\/\.{1,2}(\/|$)/.test(path) ? ['--path-as-is'] : []),
    ...(path.startsWith('/') ? [] : ['--request-target', quoted(path)]),
    ...(method === 'HEAD' ? ['--head'] : []),
    ...(method === usual || method === 'HEAD' ? [] : ['-X', quoted(method)]),
  ]
}

function curlTarget({ path, query }: Exchange, redaction: Redaction): string {
  const target = path.startsWith('/') ? redaction.text(path) : '/'
  return query === '' ? target : `${target}?${redaction.query(query)}`
}

/** The headers whose credentials the command takes from the environment. */
function credentialArguments({ headers, caller }: Exchange): readonly string[] {
  return ['authorization', 'apikey'].flatMap(name => {
    const value = headers[name]
    if (typeof value !== 'string' || value === '') return []
    const [, scheme = '', credential = ''] = /^((?:bearer|basic|token) +)?(.*)$/i.exec(value) ?? []
    return [`-H "${name}: ${scheme}$${variableFor(credential, caller)}"`]
  })
}

function headerArguments(headers: IncomingHttpHeaders, redaction: Redaction, hasBody: boolean): readonly string[] {
  const shown = Object.entries(headers).filter(([name]) => !omittedHeaders.test(name))
  const flags = shown.map(([name, value]) => headerArgument(name, redaction.headers([name, String(value)])[1] ?? ''))
  // By default curl sends every body as a form.
  return hasBody && !('content-type' in headers) ? [...flags, "-H 'content-type:'"] : flags
}

/** For curl, a name followed by a colon alone means to omit the header. */
const headerArgument = (name: string, value: string) => `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`

/** Linux limits an argument to 128 KB. For shell builtins there is no limit. */
const LONGEST_ARGUMENT_BYTES = 100_000

/** The text before the command (a comment, or what is piped to it), and curl's argument for the body, if there is one. */
function bodyArgument(
  exchange: Exchange,
  redaction: Redaction,
): { readonly prefix: string; readonly argument?: string } {
  const { method, path, body, headers } = exchange
  if (!isRepeatable(exchange))
    return { prefix: '# The body of the request is missing here, because the journal has only part of it.\n' }
  if (body === undefined || body.length === 0 || method === 'HEAD') return { prefix: '' }
  const [{ bytes: redacted } = { bytes: body }] = redaction.chunks([{ bytes: body }], path, headers['content-type'])
  const text = redacted.toString('utf8')
  const isText = isUtf8(redacted) && !hasControl.test(text)
  if (isText && redacted.length <= LONGEST_ARGUMENT_BYTES) return { prefix: '', argument: `--data-raw ${quoted(text)}` }
  const piped = isText ? quoted(text) : `'${redacted.toString('base64')}' | base64 --decode`
  return { prefix: `printf %s ${piped} | `, argument: '--data-binary @-' }
}

/** Control characters other than line ends: terminals interpret them, and arguments cannot contain NUL. */
const hasControl = /[^\P{Cc}\n]/u

/** Quotes a word for a POSIX shell, which interprets nothing within single quotes except the quote itself. */
export const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** The names are those that the banner prints, and TOKEN for the token of a signed-in user. */
const variables: ReadonlyMap<unknown, string> = new Map([
  ['apiKey', 'OPENAI_API_KEY'],
  ['stranger', 'OPENAI_API_KEY'],
  ['anon', 'SUPABASE_ANON_KEY'],
  ['service', 'SUPABASE_SERVICE_ROLE_KEY'],
  ['service_role', 'SUPABASE_SERVICE_ROLE_KEY'],
  ['user', 'TOKEN'],
])

/** On the auth backend, and if no caller was identified, the credential itself shows its kind. */
function variableFor(credential: string, { kind }: Caller): string {
  if (credential.startsWith('sb_publishable_')) return 'SUPABASE_PUBLISHABLE_KEY'
  if (credential.startsWith('sb_secret_')) return 'SUPABASE_SECRET_KEY'
  const [, payload, signature] = credential.split('.')
  const otherwise = payload && signature ? (variables.get(unverifiedFields(payload).role) ?? 'TOKEN') : 'OPENAI_API_KEY'
  return variables.get(kind) ?? otherwise
}
