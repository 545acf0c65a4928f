/**
 * Writes a report as JUnit XML. Written by hand, since junit-report-builder (6 MB with lodash) supports neither the
 * reason of a skipped test nor the text of a failure, and the elements are less code than calls to an XML builder.
 */
import type { Report, TestCase } from './report.js'

export function junitOf({ name, cases, seconds }: Report): string {
  const count = (wanted: TestCase['result']) => cases.filter(({ result }) => result === wanted).length
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
${cases.map(caseText).join('')}  </testsuite>
</testsuites>
`
}

function caseText({ classname, name, result, type, message, details = [] }: TestCase): string {
  const head = `    <testcase${attributes({ classname, name })}`
  const text = details.join('\n')
  if (result === undefined && text === '') return `${head}/>\n`
  const content = result ? element(result, attributes({ type, message }), text) : element('system-out', '', text)
  return `${head}>\n${content}    </testcase>\n`
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
