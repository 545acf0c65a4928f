/** `standin drift`: repeats each recorded request at the live platform and reports what has changed in the answers. */
import path from 'node:path'
import { finished } from 'node:stream/promises'
import { type Dispatcher, request } from 'undici'
import { StartError, UsageError } from '../check/problem.js'
import { compareAnswers, shapeOfAnswer } from '../contract/shape.js'
import { upstreamUnreadable } from '../core/errors.js'
import { withOwnAddresses } from '../core/http.js'
import { stringifyExact } from '../core/json.js'
import { glob } from '../core/paths.js'
import { isDocumentedPath } from '../endpoints/index.js'
import { isStatus } from '../http/documented-error.js'
import { acceptsApiKey, documentedCredentialOf } from '../http/proxy/credentials.js'
import { liveError } from '../http/proxy.js'
import { createDispatcher } from '../outgoing/dispatcher.js'
import { NEEDS_LIVE, redactionRules } from '../platform/config/load.js'
import type { Config } from '../platform/config/schema.js'
import type { Platform } from '../platform.js'
import {
  type Capture,
  type DriftResult,
  Folder,
  findDrift,
  ignoreFrom,
  Lookup,
  MOST_BODY_BYTES,
  type RecordedRequest,
  type SendToLive,
} from '../recordings/index.js'
import { anyPlaceholder, createRedact } from '../redact/index.js'
import { type CommandLine, command, folderFlags, integer, optionFlags, textFlag, toggle } from './command.js'
import { isBroken, reportOf } from './drift-report.js'
import { withPlatform } from './load.js'
import { printable, relativePath } from './output.js'
import { createReporter, type Progress } from './report.js'
import { EXIT_STOPPED, stopOnSignals } from './stop-signals.js'

const EXIT_DRIFTED = 1
const EXIT_BAD_INPUT = 2

const flags = {
  ...folderFlags,
  upstream: optionFlags.upstream,
  only: textFlag('GLOB', 'Only recordings whose name matches: chat-*'),
  update: toggle('Replace recorded answers that differ in meaning with the live ones, in the same files'),
  'max-calls': integer([1, 1_000_000], 'Send at most this many requests (all)', undefined),
  concurrency: integer([1, 99], 'Maximum number of concurrent requests (4)', 4),
}

export const driftCommands = { drift: command({ flags, run: drift }) }

/** Reports the findings. Sets the exit code to 1 if one of them is critical. */
async function drift(line: CommandLine<typeof flags>): Promise<undefined> {
  const reporter = createReporter(line.flags)
  const signal = stopOnSignals()
  const { results, total } = await withPlatform(line, platform =>
    compareWithLive(platform, line.flags, { signal, progressOf: reporter.progress }),
  )
  process.exitCode = exitCodeOf(results, signal)
  await reporter.write(reportOf(results, total))
}

async function compareWithLive(
  platform: Platform,
  { only, update, concurrency, 'max-calls': maxCalls = Number.POSITIVE_INFINITY }: CommandLine<typeof flags>['flags'],
  { signal, progressOf }: { readonly signal: AbortSignal; readonly progressOf: (total: number) => Progress },
) {
  const { config, dir } = platform.loaded
  const { upstream, recordings } = config
  if (upstream.baseUrl === '') throw new UsageError(`standin drift ${NEEDS_LIVE}`)
  const folder = new Folder(path.resolve(dir, recordings.dir))
  const pattern = glob(only ?? '*')
  const files = [...folder.files()].sort().filter(file => pattern.test(file))
  if (only !== undefined && files.length === 0) throw new UsageError(`No recording matches ${only}.`)
  if (files.length === 0)
    throw new StartError(`There are no recordings in ${relativePath(folder.dir)}, so nothing could be compared.`)
  const rules = redactionRules(config)
  const live = { upstream, credentialOf: liveCredentials(platform) }
  const progress = progressOf(files.length)
  const results = await findDrift({
    folder,
    files,
    lookup: new Lookup(folder, ignoreFrom(recordings.ignore)),
    concurrency,
    update,
    maxCalls,
    signal,
    credentialFor: path => credentialFor(path, live),
    compare: (recorded, live) => compareAnswers(shapeOfAnswer(recorded), shapeOfAnswer(live)),
    send: sendToLive(live),
    redact: createRedact(rules),
    placeholder: anyPlaceholder(rules),
    onStart: file => progress.at(printable(file)),
    onResult: progress.step,
  }).finally(progress.end)
  return { results, total: files.length }
}

function liveCredentials({ ownPathsAt }: Platform): LiveOptions['credentialOf'] {
  const isForKeys = (path: string) => {
    const own = ownPathsAt(path)
    return own.length === 0 ? !isDocumentedPath(path) : own.some(({ access }) => acceptsApiKey(access))
  }
  return path => documentedCredentialOf(path) ?? (isForKeys(path) ? 'apiKey' : undefined)
}

/** What users call the credential that `sendToLive` sends for a path. */
function credentialFor(path: string, { credentialOf, upstream }: LiveOptions): string | undefined {
  const kind = credentialOf(path)
  if (kind === undefined) return undefined
  return upstream[kind] === '' ? `a request without upstream.${kind}` : `upstream.${kind}`
}

function exitCodeOf(results: readonly DriftResult[], { aborted }: AbortSignal): number {
  if (aborted) return EXIT_STOPPED
  if (results.some(({ kind }) => kind === 'unreadable')) return EXIT_BAD_INPUT
  const unanswered = results.find(result => result.kind === 'notAsked')
  if (unanswered && !results.some(({ kind }) => kind === 'compared')) {
    console.error(`Nothing could be compared. ${unanswered.reason}`)
    return EXIT_DRIFTED
  }
  return results.some(result => result.kind === 'refused' || isBroken(result)) ? EXIT_DRIFTED : 0
}

interface LiveOptions {
  readonly upstream: Config['upstream']
  readonly credentialOf: (path: string) => 'apiKey' | 'anonKey' | undefined
}

/**
 * Sends only to `upstream.baseUrl`, and does not follow redirects. The message of an error is a sentence for the user.
 */
function sendToLive({ upstream, credentialOf }: LiveOptions): SendToLive {
  const { timeoutMs } = upstream
  const { origin, pathname } = new URL(upstream.baseUrl)
  const baseUrl = origin + pathname.replace(/(?<!\/)\/+$/, '')
  const dispatcher = createDispatcher(baseUrl, { timeoutMs })
  return async (recorded, signal) => {
    const { method, path, query } = recorded
    const kind = credentialOf(path)
    const startedMs = performance.now()
    const answer = await request(`${baseUrl}${path}${query === '' ? '' : `?${query}`}`, {
      method: method as Dispatcher.HttpMethod,
      headers: headersFor(recorded, kind === undefined ? '' : upstream[kind]),
      body: requestText(recorded) ?? null,
      bodyTimeout: timeoutMs,
      dispatcher,
      signal,
    }).catch(error => {
      throw liveError(error, timeoutMs)
    })
    return received(answer, startedMs, baseUrl)
  }
}

const headersFor = (recorded: RecordedRequest, credential: string): Record<string, string> => ({
  accept: '*/*',
  'accept-encoding': 'identity',
  ...recorded.condition,
  ...(credential !== '' && { authorization: `Bearer ${credential}` }),
  ...(requestText(recorded) !== undefined && { 'content-type': 'application/json' }),
})

/** The request body as text. Recorded requests that can be repeated all have JSON bodies. */
function requestText({ body }: RecordedRequest): string | undefined {
  if (body.kind === 'json') return stringifyExact(body.value)
  return body.kind === 'text' ? body.text : undefined
}

/** Resolves when the answer has ended, completely or not. */
async function received(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  startedMs: number,
  baseUrl: string,
): Promise<Capture> {
  const headAtMs = performance.now()
  const chunks: { readonly atMs: number; readonly bytes: Buffer }[] = []
  let length = 0
  // Iterating over the answer would join chunks that arrive together.
  body.on('data', (bytes: Buffer) => {
    chunks.push({ atMs: performance.now() - headAtMs, bytes })
    length += bytes.length
    if (length > MOST_BODY_BYTES || !isStatus(statusCode)) body.destroy()
  })
  const complete = await finished(body).then(
    () => true,
    () => false,
  )
  if (!isStatus(statusCode)) throw upstreamUnreadable(`status ${statusCode}`)
  if (length > MOST_BODY_BYTES) throw new Error(`The live answer is larger than ${MOST_BODY_BYTES} bytes.`)
  const flatHeaders = Object.entries(headers).flatMap(([name, value = []]) =>
    [value].flat().flatMap(one => [name, one]),
  )
  return {
    status: statusCode,
    headers: withOwnAddresses(flatHeaders, baseUrl),
    headMs: headAtMs - startedMs,
    endMs: performance.now() - headAtMs,
    chunks,
    complete,
  }
}
