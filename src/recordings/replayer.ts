/** Answers requests from recordings, or says why there is no answer: what differs from the most similar recording. */
import { isDeepStrictEqual } from 'node:util'
import type { Tokenizer } from '../chat/tokens/index.js'
import { problemInWords } from '../check/problem.js'
import type { Exchange } from '../core/exchange.js'
import { memoized } from '../core/work.js'
import { differencesBetween, unlikeness } from './differences.js'
import { requestFields } from './file-text.js'
import { isProblem } from './folder.js'
import {
  carriesAnswer,
  noServerStream,
  opensServerStream,
  replyWithoutRecording,
  rpcCallOf,
  withClientSession,
} from './json-rpc.js'
import { comparedForm, keysOf, type RequestIdentity } from './key.js'
import { byPlace, type Known, type Lookup } from './lookup.js'
import { type AskedRequest, type Nearest, nearestInOrder, nearestOf, shownNearest, whyNot } from './nearest.js'
import type { RunNote } from './notes.js'
import type { Miss } from './operations.js'
import { type DelayedReply, delayedReplyOf, formatOf, formats, inFormatOf, withOpenEnd } from './play.js'
import { shownChange } from './prompt-change.js'
import type { RecordedRequest, Recording } from './recording.js'
import type { Run } from './run.js'
import { isGone } from './test-name.js'
import type { Tomorrow } from './tomorrow.js'

export interface ReplayerParts {
  readonly lookup: Lookup
  readonly run: Run
  readonly identify: (exchange: Exchange) => RequestIdentity
  /** The test that an exchange belongs to; empty for none. */
  readonly testOf: (exchange: Exchange) => string
  readonly tomorrow: Tomorrow
  /** The recording that somebody chose for requests with a key. */
  readonly repairs: { fileFor(key: string): string | undefined }
  readonly speed: number
  readonly tokenizer: Tokenizer
  /** If there is one, a request without a recording is answered from the nearest one, and that is noted there. */
  readonly note: RunNote | undefined
  /** Whether that may also have other messages, if it is of the same test. */
  readonly any: boolean
  readonly onMiss: (miss: Miss, exchange: Exchange) => void
  /** Resolves when everything recorded so far is on disk. */
  readonly flush: () => Promise<void>
}

type ReplayResult =
  | { readonly kind: 'found'; readonly answer: DelayedReply }
  /** `title` is the request in words, `why` a sentence. `isKnownPath` says whether anything is recorded for the path. */
  | { readonly kind: 'miss'; readonly title: string; readonly why: string; readonly isKnownPath: boolean }

interface Found {
  readonly kind: 'found'
  readonly file: string
  readonly answer: DelayedReply
}

/** A recording exists but cannot be replayed. The reason is a sentence. */
const unfit = (why: string) => ({ kind: 'unfit', why }) as const
type Unfit = ReturnType<typeof unfit>

interface Search extends AskedRequest {
  readonly exchange: Exchange
  /** How often its test has sent it before. */
  readonly count: number
}

export class Replayer {
  readonly #isGone: (test: string) => boolean
  /** How often a tool said something else than in the recording. */
  #toolResults = 0

  constructor(private readonly parts: ReplayerParts) {
    this.#isGone = memoized((test: string) => isGone(test, parts.lookup.folder.dir))
  }

  /** Rejects only if the folder cannot be listed. */
  async find(exchange: Exchange): Promise<ReplayResult> {
    const { identify, testOf, run, lookup, flush } = this.parts
    const identity = identify(exchange)
    const { request } = identity
    const fixed = replyWithoutRecording(exchange, request)
    if (fixed) return { kind: 'found', answer: { reply: fixed, afterMs: 0 } }
    // Counted before the first await, so that answers follow the order of the requests.
    const test = testOf(exchange)
    const more = `${formatOf(request)} ${request.condition ? JSON.stringify(request.condition) : ''}`
    const search = { exchange, identity, test, count: run.count(test, identity, more) }
    await lookup.ready()
    let answer = this.#answer(search)
    if (answer?.kind !== 'found') {
      // The recording may still be on its way to disk, or may have been added since the folder was listed.
      await flush()
      lookup.folder.refresh()
      await lookup.ready()
      answer = this.#answer(search)
    }
    if (answer?.kind !== 'found' && opensServerStream(exchange))
      return { kind: 'found', answer: { reply: noServerStream(), afterMs: 0 } }
    let similar = lookup.sharing(identity)
    if (!answer && similar.length === 0) {
      similar = await lookup.all()
      answer = this.#answer(search)
    }
    return answer?.kind === 'found' ? forClient(answer, exchange) : this.#missed(search, answer, similar)
  }

  /** The answer of a recording that has this request, or why it has none; `undefined` if there is no such recording. */
  #answer(search: Search): Found | Unfit | undefined {
    const { lookup, run, repairs, note } = this.parts
    const { identity, test } = search
    const repaired = repairs.fileFor(identity.key)
    const chosen = repaired === undefined ? undefined : lookup.known(repaired)
    // An error of this run is not what the client wants that tries again.
    const isMeant = ({ file }: Known) => !run.isFailed(file)
    const own = chosen ? [chosen] : lookup.equal(identity, test).filter(isMeant)
    const equal = own.length > 0 ? own : this.#ofAnotherTest(lookup.equal(identity).filter(isMeant), test)
    const answer = this.#choose(equal, search)
    if (answer?.kind !== 'found') return answer
    run.served(test, answer.file, own.length === 0)
    note?.exact(answer.file)
    this.#compare(search, answer.file)
    return answer
  }

  /** Those of one test, which no timing chooses: of one that is gone, or else of none, or else of another one; the most similar name first. */
  #ofAnotherTest(all: readonly Known[], test: string): readonly Known[] {
    const rankOf = (other: string) => (other === '' ? 1 : this.#isGone(other) ? 0 : 2) + unlikeness(other, test) / 2
    const byTest = [...Map.groupBy(all, known => known.test)].map(([name, known]) => ({
      name,
      known,
      rank: rankOf(name),
    }))
    byTest.sort((one, other) => one.rank - other.rank || (one.name < other.name ? -1 : 1))
    return byTest[0]?.known ?? []
  }

  /** Chooses among recordings of one request, and rather one in the format that is asked for. */
  #choose(equal: readonly Known[], search: Search): Found | Unfit | undefined {
    const wanted = formatOf(search.identity.request)
    let reason: Unfit | undefined
    for (const format of new Set([wanted, ...formats])) {
      const found = this.#inTurn(
        equal.filter(known => known.format === format),
        search,
      )
      if (found?.kind === 'found') return found
      reason ??= found
    }
    return reason
  }

  /** Plays one after the other; the last one repeats. Those that cannot be played do not count. */
  #inTurn(equal: readonly Known[], { identity: { request }, count }: Search): Found | Unfit | undefined {
    let last: Recording | undefined
    let lastFile = ''
    let reason: Unfit | undefined
    let left = count
    for (const own of suitableFor(request, equal)) {
      const recording = this.#playable(own, request)
      if ('kind' in recording) reason ??= recording
      else [last, lastFile] = [recording, own.file]
      if (!('kind' in recording) && left-- === 0) break
    }
    if (!last)
      return (
        reason ??
        (equal[0] &&
          unfit(`${equal[0].file} answers only a request with the condition, range or event id that got it.`))
      )
    const response = inFormatOf(request, last)
    if (!response) return unfit(`${lastFile} cannot be converted to the requested format.`)
    return { kind: 'found', file: lastFile, answer: delayedReplyOf(response, this.parts.speed, lastFile) }
  }

  /** A recording, or why it cannot be replayed. */
  #playable({ file }: Known, { condition }: RecordedRequest): Recording | Unfit {
    const recording = this.parts.lookup.folder.read(file)
    if (isProblem(recording)) return unfit(`A recording cannot be read: ${problemInWords(recording)}`)
    const { request, response } = recording
    if (!response.complete && !response.leftByClient) return unfit(`The answer in ${file} broke off. Record it again.`)
    const isOwn = condition !== undefined && isDeepStrictEqual(request.condition, condition)
    if (isOwn || !isPartial(recording)) return recording
    return unfit(`${file} answers only a request with the condition, range or event id that got it.`)
  }

  /** Says that a request was answered whose recording has another text, which is ignored. */
  #compare({ identity: { request, key }, test }: Search, file: string): void {
    const { tomorrow, lookup, run } = this.parts
    tomorrow.compare(request, test, key, file)
    const strict = lookup.ignore.withToolResults
    const recorded = strict && lookup.folder.question(file)
    if (!recorded || isProblem(recorded) || keysOf(recorded.request, strict).key === keysOf(request, strict).key) return
    const [change] = differencesBetween(comparedForm(recorded.request, strict), comparedForm(request, strict))
    if (!change) return
    const { field, recorded: before = '', asked = '' } = shownChange(change)
    const times = ++this.#toolResults === 1 ? '1 request was answered' : `${this.#toolResults} requests were answered`
    run.remark(
      'toolResults',
      `${times} although a tool said something else (${file}): ${field} was ${before}, and is ${asked}.`,
    )
  }

  /** Notes a miss. If it may be, it is answered from the nearest recording. */
  async #missed(search: Search, problem: Unfit | undefined, similar: readonly Known[]): Promise<ReplayResult> {
    const { run, lookup, tokenizer, onMiss } = this.parts
    const { exchange, identity, test } = search
    const { request } = identity
    const closest = problem ? undefined : nearestOf(search, similar, lookup)
    const answer = closest && (await this.#nearestAnswer(search, closest))
    // What cannot be replayed is what there is to mend.
    const shown = answer && 'nearest' in answer ? answer.nearest : closest
    exchange.nearest = shown && !(answer?.kind === 'unfit') ? shownNearest(shown, search, lookup, tokenizer) : undefined
    if (answer?.kind === 'found' && exchange.nearest) exchange.nearest = { ...exchange.nearest, file: answer.file }
    const why = problem?.why ?? (answer?.kind === 'unfit' ? answer.why : whyNot(exchange.nearest))
    const reason = why + this.#unreadable()
    const { method, path } = request
    const changed = answer?.kind === 'found' ? answer.changed : undefined
    run.missed(test, changed)
    const { scope, nearest } = exchange
    const miss = { at: new Date().toISOString(), scope, ...(test !== scope && { test }), method, path, reason, nearest }
    onMiss(changed ? { ...miss, changed } : miss, exchange)
    if (answer?.kind === 'found') return forClient(answer, exchange)
    const title = rpcCallOf(request) ?? `${method} ${exchange.path}`
    return { kind: 'miss', title, why: reason, isKnownPath: problem !== undefined || closest?.isSamePath === true }
  }

  #unreadable(): string {
    const [first, ...others] = this.parts.lookup.folder.unreadable().values()
    if (!first) return ''
    if (others.length === 0) return ` A recording cannot be read: ${problemInWords(first)}`
    return ` ${others.length + 1} recordings cannot be read; the first: ${problemInWords(first)}`
  }

  /** Answers from the recordings of another prompt, or of another message at the same place of the test, if the configuration allows it. */
  async #nearestAnswer(search: Search, closest: Nearest) {
    const { note, any, lookup } = this.parts
    if (!note) return undefined
    if (closest.isSameConversation) return this.#changedAnswer(search, closest, 'prompt')
    if (!any || search.test === '') return undefined
    const nearest = nearestInOrder(search, this.#notPlayed(search, await lookup.all()), lookup)
    return nearest && this.#changedAnswer(search, nearest, 'message')
  }

  #changedAnswer(search: Search, nearest: Nearest, changed: 'prompt' | 'message') {
    const { lookup, run, note } = this.parts
    const { identity, test } = search
    const { known } = nearest
    const equal = changed === 'message' ? [known] : lookup.equal(known, known.test)
    const answer = this.#choose(equal.length > 0 ? equal : [known], search)
    if (answer?.kind !== 'found') return answer
    run.served(test, answer.file, known.test !== test)
    for (const { file, key } of equal)
      note?.nearest(identity.key, { file, key, test, changed, request: requestFields(identity.request) as never })
    const { reply } = answer.answer
    const answeredBy = { kind: 'recording', file: answer.file, changed } as const
    return { ...answer, nearest, changed, answer: { ...answer.answer, reply: { ...reply, answeredBy } } }
  }

  /** The recordings of the test that this attempt has not played yet, in their order. */
  #notPlayed({ test, identity }: Search, all: readonly Known[]): readonly Known[] {
    const own = all.filter(one => one.test === test && one.path === identity.path && !this.parts.run.isKept(one))
    return own.toSorted((a, b) => Date.parse(a.recordedAt) - Date.parse(b.recordedAt) || byPlace(a, b))
  }
}

/** The recordings with the request's own condition, if there are any; else all, of which those that answer without one may do. */
function suitableFor({ condition }: RecordedRequest, all: readonly Known[]): readonly Known[] {
  const own = all.filter(one => condition && isDeepStrictEqual(one.condition, condition))
  return own.length > 0 ? own : all
}

/** Whether an answer is wrong for a client that did not ask for this part of it, or does not have the rest. */
function isPartial({ request: { method, condition }, response }: Recording): boolean {
  if ([206, 304].includes(response.status) || condition?.['last-event-id'] !== undefined) return true
  const isRefusal = condition !== undefined && [412, 416].includes(response.status)
  return isRefusal || (method === 'GET' && carriesAnswer(response))
}

/** Sessions belong to a client, not to a recording. A session's own stream stays open, because clients reopen one that ends. */
function forClient({ kind, answer }: Pick<Found, 'kind' | 'answer'>, exchange: Exchange): ReplayResult {
  const reply = withClientSession(answer.reply, exchange)
  return { kind, answer: { ...answer, reply: opensServerStream(exchange) ? withOpenEnd(reply) : reply } }
}
