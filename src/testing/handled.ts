/** Checks what an app made of the faults that a test injected, as `standin exec --adversary` does for a whole run. */
import { clientCalls } from '../adversary/calls.js'
import { isTransient, isTruncating, judge, type VerdictCode } from '../adversary/judge.js'
import { alternatives } from '../core/errors.js'
import type { Fault } from '../core/fault.js'
import { receivedInWords } from './in-words.js'
import type { JournalView } from './journal.js'

interface Challenge {
  /** What an app does that does not handle it. */
  readonly code: VerdictCode
  readonly isPosedBy: (fault: Fault) => boolean
  readonly example: string
}

const challenges = {
  truncation: { code: 'truncation-accepted', isPosedBy: isTruncating, example: 'endAfterChunks: 3' },
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
    isPosedBy: ({ stallAfterChunks, hang }) => stallAfterChunks !== undefined || hang === true,
    example: 'stallAfterChunks: 3',
  },
} as const satisfies Readonly<Record<string, Challenge>>

/** What an app can handle. */
export type Handled = keyof typeof challenges

/** Checks whether a fault of this kind has hit a request, and the app did what it should. Throws a TypeError for an unknown kind. */
export function checkHandled(journal: JournalView, what: Handled) {
  if (!Object.hasOwn(challenges, what))
    throw new TypeError(`toHaveHandled takes ${alternatives(Object.keys(challenges))}, not ${JSON.stringify(what)}.`)
  const { code, isPosedBy, example }: Challenge = challenges[what]
  const entries = journal.find()
  const calls = clientCalls(entries)
  const hits = calls.flatMap(hit => (hit.fault && isPosedBy(hit.fault) ? [{ hit, fault: hit.fault }] : []))
  const verdict = hits
    .flatMap(({ hit, fault }) => judge({ calls, hit, fault, end: 'passed' }))
    .find(one => one.code === code)
  const received = () => receivedInWords(entries, journal.underWay)
  return {
    pass: hits.length > 0 && !verdict,
    message() {
      if (hits.length === 0)
        return `No fault of this kind has changed an answer yet. Set one before the request: platform.failNext({ ${example} }).\n\n${received()}`
      const sentence = verdict ? `${code}: ${verdict.sentence}` : `The app handled it: no ${code}.`
      return `${sentence}\n\n${received()}`
    },
  }
}
