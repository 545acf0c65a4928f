/** Checks live and recorded answers after they were sent. The checks are loaded with the first one. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EndpointViolations, ViolationCounts } from '../check/finding.js'
import type { Exchange } from '../core/exchange.js'
import { once } from '../core/work.js'
import type { Redact } from '../redact/index.js'

const MOST_LISTED = 1000
/** At most this many wait to be checked, since answering requests comes first. */
const MOST_UNCHECKED = 50

const HEADER = 'x-standin-violations'
const none: readonly string[] = []
const noViolations: ViolationCounts = { documented: 0, decided: 0, unjudged: 0 }

export type Violations = ReturnType<typeof createViolations>

/** `redact` removes secrets, which field names and paths on the live platform may contain. */
// Long because all of it shares what was found.
export function createViolations(report: (error: unknown) => void, redact: () => Redact) {
  const listeners: ((violating: EndpointViolations) => void)[] = []
  let listed: EndpointViolations[] = []
  const counts = { ...noViolations }
  const waiting: [exchange: Exchange, id: string][] = []
  let checking: Promise<void> | undefined

  function note(exchange: Exchange, violating: EndpointViolations): void {
    exchange.violations = violating.violations
    add(violating)
  }

  function add(violating: EndpointViolations): void {
    for (const { source } of violating.violations) counts[source]++
    listed = [violating, ...listed].slice(0, MOST_LISTED)
    for (const listener of listeners) listener(violating)
  }

  /** Checks one exchange after the other, each in a turn of its own, so that its answer is sent first. */
  async function checkAll(): Promise<void> {
    while (waiting.length > 0) {
      await nextTurn()
      const next = waiting.shift()
      try {
        const violating = next && judged(...next, await loadJudge(), redact)
        if (violating) note(next[0], violating)
      } catch (error) {
        report(error)
      }
    }
    checking = undefined
  }

  return {
    /** Takes an exchange whose answer has been sent. */
    take(exchange: Exchange, id: number): void {
      const { mode } = exchange
      if (mode === undefined || mode === 'emulate') return
      if (waiting.length >= MOST_UNCHECKED) return void counts.unjudged++
      waiting.push([exchange, String(id)])
      checking ??= checkAll()
    },
    /** Takes what another process of the run has found. */
    join(found: readonly EndpointViolations[], unjudged: number): void {
      counts.unjudged += unjudged
      for (const one of found) add(one)
    },
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
      waiting.length = 0
      listed = []
      Object.assign(counts, noViolations)
    },
    /** Resolves when everything that was taken has been checked. */
    async settle(): Promise<void> {
      while (checking) await checking
    },
  }
}

const loadJudge = once(async () => {
  const [{ judge, judgedAnswer }, { credentialsOf }] = await Promise.all([
    import('./answers.js'),
    import('../redact/index.js'),
  ])
  return { judgedAnswer, judge, credentialsOf }
})

type Tools = Awaited<ReturnType<typeof loadJudge>>

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
    id,
    method,
    status: outcome?.status ?? 0,
    mode: mode ?? '',
    endpoint: endpoint ? text(`${endpoint.method} ${endpoint.path}`) : null,
    violations: found.map(one => ({ ...one, path: text(one.path) })),
  }
}
