/** Judges a target by clauses: each once, those first that it needs. */
import { Unasked } from './call.js'
import type { Clause } from './clause.js'
import type { Target } from './target.js'
import { skipped, type Verdict } from './verdict.js'

/** What came of one clause. */
export interface Finding {
  readonly clause: Clause
  readonly verdict: Verdict
}

/** Gives the verdict on any clause of the table. */
export type Judge = (clause: Clause) => Promise<Verdict>

/** Remembers its verdicts. */
export function createJudge(target: Target, table: readonly Clause[]): Judge {
  const byId = new Map(table.map(clause => [clause.id, clause]))
  const known = new Map<string, Promise<Verdict>>()

  async function decide({ needs = [], check }: Clause): Promise<Verdict> {
    for (const id of needs) {
      const needed = byId.get(id)
      const verdict = needed && (await judge(needed))
      if (verdict?.kind === 'broken') return skipped(`${id} is broken`)
      if (verdict?.kind === 'skipped') return skipped(verdict.why)
    }
    return check(target).catch(error => {
      if (error instanceof Unasked) return skipped(error.message)
      throw error
    })
  }

  const judge: Judge = clause => {
    const verdict = known.get(clause.id) ?? decide(clause)
    known.set(clause.id, verdict)
    return verdict
  }
  return judge
}

interface RunOptions {
  readonly target: Target
  /** All of them, for those that others need. */
  readonly table: readonly Clause[]
  readonly wanted: readonly Clause[]
  readonly begun?: (clause: Clause) => void
  readonly ended?: (finding: Finding) => void
}

/** One after the other: nobody is to be flooded. */
export async function judgeAll({ target, table, wanted, begun, ended }: RunOptions): Promise<readonly Finding[]> {
  const judge = createJudge(target, table)
  const findings: Finding[] = []
  for (const clause of wanted) {
    begun?.(clause)
    const finding = { clause, verdict: await judge(clause) }
    findings.push(finding)
    ended?.(finding)
  }
  return findings
}
