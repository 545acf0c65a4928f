/** What came of judging a target, as JUnit XML for continuous integration. */
import type { Difference, Finding } from '../contract/index.js'
import { attributes, escaped, junitDocument } from './junit.js'
import { countOf, factsOf, outcomeOf, type Verified } from './verify-count.js'
import { isFailure, linesOf } from './verify-differences.js'

/** One test case a clause. */
export function junitOf({ findings, isStrict, seconds, against }: Verified): string {
  const { clauses, broken, skipped } = countOf({ findings, isStrict })
  const beside = (against?.differences ?? []).flatMap(difference => {
    const isBad = against !== undefined && isFailure(difference, against)
    return difference.calls.map(call => ({ call, difference, isBad }))
  })
  const counts = {
    tests: clauses + beside.length,
    failures: broken + beside.filter(({ isBad }) => isBad).length,
    ...{ errors: 0, skipped, seconds },
  }
  const cases = [...findings.map(finding => testCase(finding, isStrict)), ...beside.map(differenceCase)]
  return junitDocument('verify', counts, cases)
}

interface Beside {
  readonly call: string
  readonly difference: Difference
  readonly isBad: boolean
}

/** One call that the live platform answers in another way. */
function differenceCase({ call, difference, isBad }: Beside): string {
  const lines = linesOf(difference)
  const text = escaped(lines.join('\n'))
  const head = `    <testcase${attributes({ classname: 'Beside the live platform', name: call })}>\n`
  const inside = isBad
    ? `      <failure${attributes({ type: 'difference', message: lines[0] })}>${text}</failure>\n`
    : `      <system-out>${text}</system-out>\n`
  return `${head}${inside}    </testcase>\n`
}

function testCase(finding: Finding, isStrict: boolean): string {
  const { id, section, what } = finding.clause
  const head = `    <testcase${attributes({ classname: section, name: `${id} ${what}` })}`
  const inside = inner(finding, isStrict)
  return inside === '' ? `${head}/>\n` : `${head}>\n${inside}    </testcase>\n`
}

function inner({ clause, verdict }: Finding, isStrict: boolean): string {
  if (verdict.kind === 'held') return ''
  if (verdict.kind === 'skipped') return `      <skipped${attributes({ message: verdict.why })}/>\n`
  const facts = factsOf(clause, verdict).map(([name, text]) => `${name}: ${text}`)
  const text = escaped(facts.join('\n'))
  if (outcomeOf({ clause, verdict }, isStrict) === 'different')
    return `      <system-out>differs\n${text}</system-out>\n`
  const about = attributes({ type: clause.source, message: `expected ${verdict.expected}, came ${verdict.came}` })
  return `      <failure${about}>${text}</failure>\n`
}
