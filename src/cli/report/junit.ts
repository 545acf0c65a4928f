/**
 * Writes a report as JUnit XML. Written by hand, since junit-report-builder (6 MB with lodash) supports neither the
 * reason of a skipped test nor the text of a failure, and the elements are less code than calls to an XML builder.
 */
import { fromWorst, isAtLeast } from '../../check/finding.js'
import { findingLine, type Report, type ReportItem } from './report.js'

export function junitOf({ name, groups, seconds }: Report): string {
  const cases = groups.flatMap(({ items }) => items.flatMap(casesOf))
  const count = (wanted: string) => cases.filter(({ result }) => result === wanted).length
  const counts = attributes({
    tests: cases.length,
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
    time: seconds.toFixed(3),
  })
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="standin ${name}"${counts}>
  <testsuite name="${name}"${counts}>
${cases.map(({ xml }) => xml).join('')}  </testsuite>
</testsuites>
`
}

const results = { held: undefined, different: undefined, broken: 'failure', error: 'error', skipped: 'skipped' }

/** A test case for each name. Findings and facts that are not part of a failure become its output. */
function casesOf(item: ReportItem) {
  const { outcome, names, testName, what, classname, findings = [], facts = [], failOn = 'info', message, type } = item
  const result = results[outcome]
  const [worst, ...failures] =
    result === 'failure' ? fromWorst(findings).filter(({ severity }) => isAtLeast(failOn, severity)) : []
  const failed = worst ? [worst, ...failures] : []
  const others = fromWorst(findings).filter(finding => !failed.includes(finding))
  const lines = facts.map(([name, text]) => `${name}: ${text}`)
  // Clauses have facts, but no findings.
  const hasFactsOnly = result === 'failure' && !worst
  const text = hasFactsOnly ? lines : failed.map(finding => findingLine(finding))
  const output = [...others.map(finding => findingLine(finding)), ...(hasFactsOnly ? [] : lines)].join('\n')
  const resultAttributes = attributes({
    type: worst?.severity ?? type,
    message: worst ? `${worst.path}: ${worst.sentence}` : message,
  })
  const content = [
    ...(result ? [element(result, resultAttributes, text.join('\n'))] : []),
    ...(output === '' ? [] : [element('system-out', '', output)]),
  ].join('')
  return names.map(name => {
    const head = `    <testcase${attributes({ classname, name: testName ?? [name, what].filter(Boolean).join(' ') })}`
    return { result, xml: content === '' ? `${head}/>\n` : `${head}>\n${content}    </testcase>\n` }
  })
}

const element = (tag: string, attributeText: string, content: string) =>
  content === '' ? `      <${tag}${attributeText}/>\n` : `      <${tag}${attributeText}>${escaped(content)}</${tag}>\n`

const attributes = (values: Readonly<Record<string, string | number | undefined>>) =>
  Object.entries(values)
    .map(([name, value]) => (value === undefined ? '' : ` ${name}="${escaped(String(value))}"`))
    .join('')

/** Removes the characters that XML 1.0 cannot represent. */
const escaped = (text: string) =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this regex looks for them
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\p{Surrogate}]/gu, '')
    .replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)
