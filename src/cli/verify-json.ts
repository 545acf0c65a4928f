/** What came of judging a target, for programs. */
import { silent } from '../contract/index.js'
import type { Against } from './verify-against.js'
import { countOf, outcomeOf, type Verified } from './verify-count.js'
import { brokenAtLive } from './verify-differences.js'

export function jsonOf(verified: Verified): string {
  const { url, isOwn, findings, calls, maxCalls, seconds, isStrict } = verified
  const told = findings.map(finding => {
    const { id, section, source, what, quotes } = finding.clause
    const { kind: _kind, ...facts } = finding.verdict
    return { id, section, source, what, quotes, outcome: outcomeOf(finding, isStrict), ...facts }
  })
  const whom = isOwn ? { target: 'stand-in' } : { target: url }
  return `${JSON.stringify({ ...whom, calls, maxCalls, seconds, count: countOf(verified), ...beside(verified.against), clauses: told, notChecked: silent })}\n`
}

function beside(against: Against | undefined) {
  if (!against) return {}
  const { target, at, isFresh, calls, compared, differences } = against
  const broken = brokenAtLive(against).map(({ clause }) => clause.id)
  return { against: { target, at, isFresh, calls, compared, broken, differences } }
}
