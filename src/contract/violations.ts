/** Checks live and recorded answers after they were sent. The checks are loaded with the first one. */
import type { EndpointViolations, ViolationCounts } from '../check/finding.js'
import type { Exchange } from '../core/exchange.js'
import { createPauses, importOnce, inSlices, type Sliced } from '../core/work.js'
import type { Redact } from '../redact/index.js'

/** At most this many are listed. */
const MOST_LISTED = 1000
/** At most this many wait to be checked, since answering requests comes first. */
const MOST_WAITING = 1000
/**
 * The pause before answers are checked, and between two slices of checking. A check takes half as long as proxying a
 * request; done at once, it would delay every request that follows its answer.
 */
const PAUSE_MS = 5

const HEADER = 'x-standin-violations'
const none: readonly string[] = []
const noViolations: ViolationCounts = { documented: 0, decided: 0, unjudged: 0 }

export type Violations = ReturnType<typeof createViolations>

/** `redact` removes secrets, which field names and paths on the live platform may contain. */
export function createViolations(report: (error: unknown) => void, redact: () => Redact) {
  const listeners: ((violating: EndpointViolations) => void)[] = []
  let listed: EndpointViolations[] = []
  const counts = { ...noViolations }

  function* check([exchange, id]: QueuedExchange, tools: Tools): Sliced<void> {
    const violating = yield* judged(exchange, id, tools, redact)
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

/** Checks exchanges a little later, one after the other. */
function createQueue(check: (queued: QueuedExchange, tools: Tools) => Sliced<void>, report: (error: unknown) => void) {
  const queue: QueuedExchange[] = []
  let checking: Promise<void> | undefined
  const pauses = createPauses()
  const pause = () => pauses.of(PAUSE_MS)

  async function checkAll(): Promise<void> {
    await pause()
    try {
      const tools = await load()
      await inSlices(
        checkAllIn(queue, one => check(one, tools), report),
        pause,
      )
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
    /** Checks all without a pause, and resolves when that is done. */
    settle: () =>
      pauses.without(async () => {
        while (checking) await checking
      }),
  }
}

/** Empties the queue, including exchanges that are added meanwhile. */
function* checkAllIn(
  queue: QueuedExchange[],
  check: (one: QueuedExchange) => Sliced<void>,
  report: (error: unknown) => void,
) {
  for (let next = queue.shift(); next; next = queue.shift()) {
    try {
      yield* check(next)
    } catch (error) {
      report(error)
    }
    yield
  }
}

const load = importOnce(async () => {
  const [{ judge, judgedAnswer }, { credentialsOf }] = await Promise.all([
    import('./judge.js'),
    import('../redact/index.js'),
  ])
  return { judgedAnswer, judge, credentialsOf }
})

type Tools = Awaited<ReturnType<typeof load>>

/** The violations of an answer, without secrets; `undefined` if it has none. */
function* judged(
  exchange: Exchange,
  id: string,
  { judgedAnswer, judge, credentialsOf }: Tools,
  currentRedact: () => Redact,
): Sliced<EndpointViolations | undefined> {
  const answer = judgedAnswer(exchange)
  const found = answer ? yield* judge(answer) : []
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
