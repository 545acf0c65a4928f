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

export class Violations {
  readonly #counts = { ...noViolations }
  readonly #listeners: ((violating: EndpointViolations) => void)[] = []
  readonly #waiting: [exchange: Exchange, id: string][] = []
  #listed: readonly EndpointViolations[] = []
  #checking: Promise<void> | undefined

  /** `redact` removes secrets, which field names and paths on the live platform may contain. */
  constructor(
    private readonly report: (error: unknown) => void,
    private readonly redact: () => Redact,
  ) {}

  /** Takes an exchange whose answer has been sent. */
  readonly take = (exchange: Exchange, id: number): void => {
    const { mode } = exchange
    if (mode === undefined || mode === 'emulate') return
    if (this.#waiting.length >= MOST_UNCHECKED) return void this.#counts.unjudged++
    this.#waiting.push([exchange, String(id)])
    this.#checking ??= this.#checkAll()
  }

  /** Takes what another process of the run has found. */
  join(found: readonly EndpointViolations[], unjudged: number): void {
    this.#counts.unjudged += unjudged
    for (const one of found) this.#add(one)
  }

  readonly counts = (): ViolationCounts => ({ ...this.#counts })

  /** The latest exchanges with violations, newest first. */
  readonly list = (): readonly EndpointViolations[] => this.#listed

  /** Headers for an answer that is about to be sent. They count the violations of earlier answers, since the head is sent before the body is known. */
  readonly headers = (): readonly string[] => {
    const found = this.#counts.documented + this.#counts.decided
    return found > 0 ? [HEADER, String(found)] : none
  }

  onViolating(listener: (violating: EndpointViolations) => void): void {
    this.#listeners.push(listener)
  }

  forget(): void {
    this.#waiting.length = 0
    this.#listed = []
    Object.assign(this.#counts, noViolations)
  }

  /** Resolves when everything that was taken has been checked. */
  readonly settle = async (): Promise<void> => {
    while (this.#checking) await this.#checking
  }

  /** Checks one exchange after the other, each in a turn of its own, so that its answer is sent first. */
  async #checkAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await nextTurn()
      const next = this.#waiting.shift()
      try {
        const violating = next && judged(...next, await loadJudge(), this.redact)
        if (violating) next[0].violations = violating.violations
        if (violating) this.#add(violating)
      } catch (error) {
        this.report(error)
      }
    }
    this.#checking = undefined
  }

  #add(violating: EndpointViolations): void {
    for (const { source } of violating.violations) this.#counts[source]++
    this.#listed = [violating, ...this.#listed].slice(0, MOST_LISTED)
    for (const listener of this.#listeners) listener(violating)
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
