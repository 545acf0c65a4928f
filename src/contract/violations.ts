/** Checks live and recorded answers after they were sent. The checks are loaded with the first one. */
import type { EndpointViolations, ViolationCounts } from '../check/finding.js'
import type { Exchange } from '../core/exchange.js'
import { once } from '../core/work.js'
import type { Redact } from '../redact/index.js'

/** At most this many are listed. */
const MOST_LISTED = 1000
/** At most this many wait to be checked, since answering requests comes first. */
const MOST_WAITING = 1000

const HEADER = 'x-standin-violations'
const none: readonly string[] = []
const noViolations: ViolationCounts = { documented: 0, decided: 0, unjudged: 0 }

export type Violations = ReturnType<typeof createViolations>

/** `redact` removes secrets, which field names and paths on the live platform may contain. */
export function createViolations(report: (error: unknown) => void, redact: () => Redact) {
  const listeners: ((violating: EndpointViolations) => void)[] = []
  let listed: EndpointViolations[] = []
  const counts = { ...noViolations }

  function check([exchange, id]: QueuedExchange, tools: Tools): void {
    const violating = judged(exchange, id, tools, redact)
    if (!violating) return
    exchange.violations = violating.violations
    for (const { source } of violating.violations) counts[source]++
    listed = [violating, ...listed].slice(0, MOST_LISTED)
    for (const listener of listeners) listener(violating)
  }

  const queue = createQueue(check, report)
  return {
    /** Takes an exchange whose answer has been sent. */
    take(exchange: Exchange, id: number): void {
      const { mode } = exchange
      if (mode === undefined || mode === 'emulate') return
      if (!queue.add([exchange, String(id)])) counts.unjudged++
    },
    /** The counts so far in this process. */
    counts: (): ViolationCounts => ({ ...counts }),
    /** The latest exchanges with violations, newest first. */
    list: (): readonly EndpointViolations[] => listed,
    /** Headers for an answer that is about to be sent. They count the violations of earlier answers, since the head is sent before the body is known. */
    headers(): readonly string[] {
      const found = counts.documented + counts.decided
      return found > 0 ? [HEADER, String(found)] : none
    },
    onViolating: (listener: (violating: EndpointViolations) => void) => void listeners.push(listener),
    forget(): void {
      queue.clear()
      listed = []
      Object.assign(counts, noViolations)
    },
    /** Resolves when everything that was taken has been checked. */
    settle: queue.settle,
  }
}

/** An exchange to be checked, and its id in the journal. */
type QueuedExchange = readonly [exchange: Exchange, id: string]

/** Checks exchanges in later turns of the event loop, one after the other. */
function createQueue(check: (queued: QueuedExchange, tools: Tools) => void, report: (error: unknown) => void) {
  const queue: QueuedExchange[] = []
  let checking: Promise<void> | undefined

  async function checkAll(): Promise<void> {
    try {
      const tools = await load()
      for (let next = await later(queue); next; next = await later(queue)) {
        try {
          check(next, tools)
        } catch (error) {
          report(error)
        }
      }
    } catch (error) {
      report(error)
    }
    checking = undefined
  }

  return {
    /** Returns false if too many are waiting already. */
    add(one: QueuedExchange): boolean {
      if (queue.length >= MOST_WAITING) return false
      queue.push(one)
      checking ??= checkAll()
      return true
    },
    clear() {
      queue.length = 0
    },
    /** Resolves when everything that was added has been checked. */
    async settle(): Promise<void> {
      while (checking) await checking
    },
  }
}

/** The next exchange, in a turn of its own, so that its answer is sent first. */
const later = (queue: QueuedExchange[]) =>
  new Promise<QueuedExchange | undefined>(resolve => void setImmediate(() => resolve(queue.shift())))

const load = once(async () => {
  const [{ judge, judgedAnswer }, { credentialsOf }] = await Promise.all([
    import('./judge.js'),
    import('../redact/index.js'),
  ])
  return { judgedAnswer, judge, credentialsOf }
})

type Tools = Awaited<ReturnType<typeof load>>

/** The violations of an answer, without secrets; `undefined` if it has none. */
function judged(
  exchange: Exchange,
  id: string,
  { judgedAnswer, judge, credentialsOf }: Tools,
  currentRedact: () => Redact,
): EndpointViolations | undefined {
  const answer = judgedAnswer(exchange)
  const found = answer ? judge(answer) : []
  if (found.length === 0) return undefined
  // A reload may have changed the secrets while the exchange waited.
  const redact = currentRedact()
  const { text } = redact(credentialsOf(exchange, redact))
  const { method, endpoint, outcome, mode } = exchange
  return {
    ...{ id, method, status: outcome?.status ?? 0, mode: mode ?? '' },
    endpoint: endpoint ? text(`${endpoint.method} ${endpoint.path}`) : null,
    violations: found.map(one => ({ ...one, path: text(one.path) })),
  }
}
