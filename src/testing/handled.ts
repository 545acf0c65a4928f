/** Checks what an app made of the faults that a test injected, as `standin exec --adversary` does for a whole run. */
import { clientCalls } from '../adversary/calls.js'
import { isTransient, isTruncating, judge } from '../adversary/judge.js'
import type { VerdictCode } from '../adversary/verdict.js'
import { alternatives } from '../core/errors.js'
import { type Fault, type FaultKey, type FaultWord, faultOfWord, faultWords } from '../core/fault.js'
import type { JournalEntry } from '../journal/index.js'
import { receivedInWords } from './in-words.js'

interface Challenge {
  /** What an app does that does not handle it. */
  readonly code: VerdictCode
  readonly isPosedBy: (fault: Fault) => boolean
  readonly example: string
}

const challenges = {
  truncation: { code: 'truncation-accepted', isPosedBy: isTruncating, example: 'end: 3' },
  'rate-limit': {
    code: 'retry-after-ignored',
    isPosedBy: ({ retryAfter }) => retryAfter !== undefined,
    example: 'status: 429, retryAfter: 1',
  },
  refusal: {
    code: 'retried-hopeless',
    isPosedBy: ({ status }) => status === 400 || status === 401,
    example: 'status: 401',
  },
  outage: { code: 'retry-storm', isPosedBy: isTransient, example: 'status: 503' },
  retry: { code: 'executed-twice', isPosedBy: () => true, example: 'status: 503' },
  stall: {
    code: 'connection-kept',
    isPosedBy: ({ stall, hang }) => stall !== undefined || hang === true,
    example: 'stall: 3',
  },
} as const satisfies Readonly<Record<string, Challenge>>

/** What an app can handle: a fault by its name, such as `end`, `stall` or `status-429`, or a kind of failure. */
export type Handled = keyof typeof challenges | FaultWord | `${FaultWord}-${string}`

/** The fault that a word names, and everything that an app can make wrong of it. */
function challengeOf(what: string): Partial<Challenge> & Omit<Challenge, 'code'> {
  if (Object.hasOwn(challenges, what)) return challenges[what as keyof typeof challenges]
  const wanted = faultOfWord(what)
  if (!wanted) {
    const known = [...faultWords.map(({ word }) => word), ...Object.keys(challenges)]
    throw new TypeError(`toHaveHandled takes ${alternatives(known)}, not ${JSON.stringify(what)}.`)
  }
  // A name alone stands for each of its values.
  const [name] = Object.keys(wanted) as FaultKey[]
  const isName = what === name
  return {
    isPosedBy: fault => name !== undefined && fault[name] !== undefined && (isName || fault[name] === wanted[name]),
    example: name === undefined ? '' : `${name}: ${JSON.stringify(wanted[name])}`,
  }
}

/** Checks whether a fault of this kind has hit a request, and the app did what it should. Throws a TypeError for an unknown kind. */
export function checkHandled(entries: readonly JournalEntry[], underWay: number, what: Handled) {
  const { code, isPosedBy, example } = challengeOf(what)
  const calls = clientCalls(entries)
  const hits = calls.flatMap(hit => (hit.fault && isPosedBy(hit.fault) ? [{ hit, fault: hit.fault }] : []))
  const verdict = hits
    .flatMap(({ hit, fault }) => judge({ calls, hit, fault, end: 'passed' }))
    .find(one => (code === undefined ? one.isBug : one.code === code))
  const received = () => receivedInWords(entries, underWay)
  return {
    pass: hits.length > 0 && !verdict,
    message() {
      if (hits.length === 0)
        return `No fault of this kind has changed an answer yet. Set one before the request: platform.failNext({ ${example} }).\n\n${received()}`
      const sentence = verdict
        ? `${verdict.code}: ${verdict.sentence}`
        : `The app handled it${code === undefined ? '' : `: no ${code}`}.`
      return `${sentence}\n\n${received()}`
    },
  }
}
