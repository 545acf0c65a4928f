/** Finds the recording that is most similar to a request without one: by its conversation, its last turn, its test, and then by what it says. */
import type { Tokenizer } from '../chat/tokens/index.js'
import { type ClosestRecording, type Difference, ignoreAdvice, sideBySide } from '../check/finding.js'
import { memoized } from '../core/work.js'
import { differencesBetween, distance } from './differences.js'
import { isProblem } from './folder.js'
import { ignorableIn } from './ignorable.js'
import { ignoreFrom } from './ignore.js'
import { ignoredNames } from './ignored-names.js'
import { rpcCallOf } from './json-rpc.js'
import { comparedForm, type RequestIdentity, type RequestKeys } from './key.js'
import type { Known, Lookup } from './lookup.js'
import { formatOf } from './play.js'
import { shownChange } from './prompt-change.js'
import type { RecordedRequest } from './recording.js'
import { apart } from './sketch.js'

export interface Nearest {
  readonly known: Known
  readonly request: RecordedRequest
  readonly differences: readonly Difference[]
  readonly isSamePath: boolean
  /** Whether it has the same conversation, so that only the prompt differs. */
  readonly isSameConversation: boolean
}

/** What is asked, and by which test. */
export interface AskedRequest {
  readonly identity: RequestIdentity
  readonly test: string
}

/** At most this many recordings are compared field by field. */
const MOST_COMPARED = 8
const MOST_LISTED = 50
/** A different tool or path counts more than any difference in arguments. */
const ANOTHER_CALL = 1_000_000

/** The nearest of some recordings; `undefined` if none has the request's method and path, whatever dates and ids are in the path. */
export function nearestOf(asked: AskedRequest, all: readonly Known[], lookup: Lookup): Nearest | undefined {
  const { identity, test } = asked
  const method = identity.request.method === 'HEAD' ? 'GET' : identity.request.method
  const path = anyPath(identity.path)
  const isSamePath = memoized((of: string) => anyPath(of) === path, 1000)
  const sketches = identity.sketches()
  const isCandidate = (one: Known) => (one.method === 'HEAD' ? 'GET' : one.method) === method && isSamePath(one.path)
  // The first of them by their rough rank. Sorting all of a large folder would take longer.
  const ranked: { readonly known: Known; readonly rank: number }[] = []
  for (const known of all) {
    if (!isCandidate(known)) continue
    const rank = roughRank(known, identity, sketches, test)
    if (ranked.length === MOST_COMPARED && rank > (ranked.at(-1)?.rank ?? 0)) continue
    const isBefore = (one: (typeof ranked)[number]) =>
      one.rank < rank || (one.rank === rank && one.known.file < known.file)
    ranked.splice(ranked.findLastIndex(isBefore) + 1, 0, { known, rank })
    ranked.length = Math.min(ranked.length, MOST_COMPARED)
  }
  const compared = ranked.flatMap(({ known }) => comparison(known, asked, lookup) ?? [])
  return compared.sort((one, other) => compareRanks(one.rank, other.rank))[0]
}

/** How much more alike another recording has to be than the next one in order. */
const CLEARLY = 0.1

/** The next of some recordings in their order, unless another one is clearly more similar. */
export function nearestInOrder(asked: AskedRequest, inOrder: readonly Known[], lookup: Lookup): Nearest | undefined {
  const compared = inOrder.slice(0, MOST_COMPARED).flatMap(known => comparison(known, asked, lookup) ?? [])
  const apart = compared.map(({ differences }) => distance(differences))
  const least = Math.min(...apart)
  return compared[(apart[0] ?? 0) - least > CLEARLY ? apart.indexOf(least) : 0]
}

/** By hashes and sketches, which takes a microsecond. */
function roughRank(known: Known, asked: RequestKeys, [question, rest]: Known['sketches'], test: string): number {
  const isOther = known.test === test ? 0 : 0.01
  const restApart = apart(known.sketches[1], rest) / 100
  if (known.conversation === asked.conversation) return restApart + isOther
  return (known.question === asked.question ? 1 : 2 + apart(known.sketches[0], question)) + restApart + isOther
}

const anyName = ignoreFrom(ignoredNames)
const anyPath = memoized((path: string) => anyName.inText(path), 1000)

function comparison(known: Known, { identity, test }: AskedRequest, lookup: Lookup) {
  const question = lookup.folder.question(known.file)
  if (isProblem(question)) return undefined
  const { request } = question
  const [recorded, asked] = [comparedForm(request, lookup.ignore), comparedForm(identity.request, lookup.ignore)]
  const differences = differencesBetween(recorded, asked)
  const isSamePath = known.path === identity.path
  const isSameConversation = isSamePath && known.conversation === identity.conversation && known.key !== known.question
  const isOtherCall = !isSamePath || rpcCallOf(request) !== rpcCallOf(identity.request)
  const rank = [
    isSameConversation ? 0 : known.question === identity.question ? 1 : 2,
    isSameConversation ? differences.length : 0,
    distance(differences) + (isOtherCall ? ANOTHER_CALL : 0),
    Number(known.test !== test),
    // A request for a stream is rather answered from a stream.
    Number(known.format !== formatOf(identity.request)),
    known.place,
  ]
  return { known, request, differences, isSamePath, isSameConversation, rank }
}

const compareRanks = (one: readonly number[], other: readonly number[]) =>
  one.map((rank, i) => (rank === other[i] ? 0 : rank - (other[i] ?? 0))).find(order => order !== 0) ?? 0

/** The nearest recording as it is shown. */
export function shownNearest(
  { known, request, differences, isSameConversation }: Nearest,
  { identity }: AskedRequest,
  { ignore }: Lookup,
  tokenizer: Tokenizer,
): ClosestRecording {
  const toIgnore = ignorableIn(differences, request, identity.request, ignore)
  return {
    file: known.file,
    differences: differences
      .slice(0, MOST_LISTED)
      .map(one => shownChange(one, isSameConversation ? tokenizer : undefined)),
    ...(toIgnore && { ignore: toIgnore }),
    ...(isSameConversation && { sameConversation: true }),
  }
}

export function whyNot(closest: ClosestRecording | undefined): string {
  if (!closest) return 'Nothing is recorded for it.'
  const [first, ...others] = closest.differences
  const nearestIs = `The nearest is ${closest.file}`
  if (!first) return `${nearestIs}.`
  const { field, recorded, asked } = first
  const [recordedText, askedText] = sideBySide(recorded ?? '', asked ?? '', SHOWN_LENGTH)
  const otherFields =
    others.length === 0 ? '' : ` ${others.length} more ${others.length === 1 ? 'field differs' : 'fields differ'}.`
  const advice = closest.ignore ? ` ${ignoreAdvice(closest.ignore)}` : ''
  return `${nearestIs}; there ${field} ${isText(recorded, recordedText)}, here it ${isText(asked, askedText)}.${otherFields}${advice}`
}

/** At most this much of each value is shown in one line. */
const SHOWN_LENGTH = 60

const isText = (json: string | undefined, shown: string) => (json === undefined ? 'is absent' : `is ${shown}`)
