/** Judges what is known of an exchange in short: the same for the journal, the tests, `standin tail` and the dashboard. */
import { type Caller, callerInWords } from './caller.js'
import { glob } from './paths.js'

/** The words of a query that a list can judge by itself; journal/filter.ts says what each means. */
export const factWords = [
  ...(['method', 'path', 'endpoint', 'status', 'mode', 'model', 'caller', 'credential', 'source'] as const),
  ...(['scope', 'search', 'complete', 'problems'] as const),
] as const

export interface FactFilter extends Partial<Readonly<Record<Exclude<(typeof factWords)[number], Flag>, unknown>>> {
  readonly complete?: boolean | undefined
  readonly problems?: boolean | undefined
}

type Flag = 'complete' | 'problems'

export interface Facts {
  readonly method: string
  readonly path: string
  readonly endpoint: string | null
  readonly status: number | null
  readonly mode: string | null
  readonly model: string | null
  readonly caller: Caller
  readonly source: string | null
  readonly scope: string
  readonly error: string | null
  readonly complete: boolean
  readonly missed: boolean
}

/** A test for exchanges; parts that are left out, or undefined, hold for all. */
export function factTest(filter: FactFilter): (facts: Facts) => boolean {
  const { complete, problems } = filter
  const tests: ((facts: Facts) => boolean)[] = Object.entries(fitting).flatMap(([word, test]) => {
    const wanted = filter[word as keyof typeof fitting]
    return wanted === undefined ? [] : [test(String(wanted))]
  })
  if (complete !== undefined) tests.push(facts => facts.complete === complete)
  if (problems !== undefined) tests.push(facts => isProblem(facts) === problems)
  return facts => tests.every(test => test(facts))
}

const fitting = {
  method: same(({ method }) => method),
  path: like(({ path }) => path),
  endpoint: like(({ endpoint }) => endpoint),
  status: (wanted: string) => (facts: Facts) => isOf(wanted.toLowerCase(), facts.status),
  mode: same(({ mode }) => mode),
  model: like(({ model }) => model),
  caller: same(({ caller }) => caller.kind),
  credential: part(({ caller }) => callerInWords(caller) || 'none'),
  source: part(({ source }) => source),
  scope: (wanted: string) => (facts: Facts) => facts.scope === wanted,
  search: part(inShort),
} as const satisfies Record<Exclude<(typeof factWords)[number], Flag>, unknown>

type Fact = (facts: Facts) => string | null

function same(fact: Fact) {
  return (wanted: string) => (facts: Facts) => fact(facts)?.toLowerCase() === wanted.toLowerCase()
}

function like(fact: Fact) {
  return (wanted: string) => {
    const pattern = glob(wanted)
    return (facts: Facts) => pattern.test(fact(facts) ?? '')
  }
}

function part(fact: Fact) {
  return (wanted: string) => {
    const small = wanted.toLowerCase()
    return (facts: Facts) => (fact(facts) ?? '').toLowerCase().includes(small)
  }
}

/** What is looked for without saying where. */
function inShort({ method, path, status, source, model, error, caller }: Facts): string {
  return [`${method} ${path}`, status, source, model, error, callerInWords(caller)].join('\n')
}

function isOf(wanted: string, status: number | null): boolean {
  if (status === null) return wanted === 'none'
  return wanted.endsWith('xx') ? String(status).startsWith(wanted.charAt(0)) : String(status) === wanted
}

/** Missed, refused, failed or cut. */
const isProblem = ({ missed, status, complete }: Facts) => missed || status === null || status >= 400 || !complete
