/** Checks live and recorded answers after they were sent. Nothing is loaded before the first one. */
import type { EndpointViolations, ViolationCounts } from '../check/finding.js'
import type { Exchange } from '../core/exchange.js'
import { inSlices, onceLoaded, othersTurn } from '../core/work.js'
import type { Redact } from '../redact/index.js'

export interface Violations {
  /** Takes an exchange whose answer has been sent. */
  take(exchange: Exchange, id: number): void
  /** The counts so far in this process. */
  counts(): ViolationCounts
  /** The latest exchanges with violations, newest first. */
  list(): readonly EndpointViolations[]
  /** Headers for an answer that is about to be sent, as node's flat array. */
  headers(): readonly string[]
  onViolating(listener: (violating: EndpointViolations) => void): void
  forget(): void
  /** Resolves when everything that was taken has been checked. */
  settle(): Promise<void>
}

/** At most this many are listed. */
const MOST_LISTED = 1000
/** At most this many wait to be checked, since answering requests comes first. */
const MOST_WAITING = 1000

const HEADER = 'x-standin-violations'
const none: readonly string[] = []
const noViolations: ViolationCounts = { documented: 0, decided: 0, unjudged: 0 }

/** `redact` removes secrets, since field names and paths on the live platform may be anything. */
export function createViolations(report: (error: unknown) => void, redact: () => Redact): Violations {
  const listeners: ((violating: EndpointViolations) => void)[] = []
  let listed: EndpointViolations[] = []
  const counts = { ...noViolations }
  let waiting = 0
  let judging: Promise<void> = Promise.resolve()

  async function look(exchange: Exchange, id: string): Promise<void> {
    const violating = await judged(exchange, id, redact)
    if (!violating) return
    exchange.violations = violating.violations
    for (const { source } of violating.violations) counts[source]++
    listed = [violating, ...listed].slice(0, MOST_LISTED)
    for (const listener of listeners) listener(violating)
  }

  return {
    take(exchange, id) {
      const { mode } = exchange
      if (mode === undefined || mode === 'emulate') return
      if (waiting >= MOST_WAITING) return void counts.unjudged++
      waiting++
      judging = judging
        .then(() => look(exchange, String(id)))
        .catch(report)
        .finally(() => void waiting--)
    },
    counts: () => ({ ...counts }),
    list: () => listed,
    // The count covers all answers before this one: the head is sent before the body is known, and a count that
    // sometimes included it would be unreliable. A client that looks at its last answer knows about all others.
    headers() {
      const found = counts.documented + counts.decided
      return found > 0 ? [HEADER, String(found)] : none
    },
    onViolating: listener => void listeners.push(listener),
    forget() {
      listed = []
      Object.assign(counts, noViolations)
    },
    settle: () => judging,
  }
}

const load = onceLoaded(async () => ({ ...(await import('./judge.js')), ...(await import('../redact/index.js')) }))

/** The violations of an answer, without secrets; `undefined` if it has none. */
async function judged(exchange: Exchange, id: string, redact: () => Redact): Promise<EndpointViolations | undefined> {
  const { judgedAnswer, judge, credentialsOf } = await load()
  // One per turn, so that requests are answered in between.
  await othersTurn()
  const answer = judgedAnswer(exchange)
  const found = answer ? await inSlices(judge(answer)) : []
  if (found.length === 0) return undefined
  const { text } = redact()(credentialsOf(exchange, redact()))
  const { method, endpoint, outcome, mode } = exchange
  return {
    ...{ id, method, status: outcome?.status ?? 0, mode: mode ?? '' },
    endpoint: endpoint ? text(`${endpoint.method} ${endpoint.path}`) : null,
    violations: found.map(one => ({ ...one, path: text(one.path) })),
  }
}
