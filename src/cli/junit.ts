/** JUnit XML, as continuous integration reads it. */

export interface JunitCounts {
  readonly tests: number
  readonly failures: number
  readonly errors: number
  readonly skipped: number
  readonly seconds: number
}

/** One suite; each of `cases` is XML already, with its line's end. */
export function junitDocument(name: string, { seconds, ...numbers }: JunitCounts, cases: readonly string[]): string {
  const counts = attributes({ ...numbers, time: seconds.toFixed(3) })
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="standin ${name}"${counts}>
  <testsuite name="${name}"${counts}>
${cases.join('')}  </testsuite>
</testsuites>
`
}

export const attributes = (values: Readonly<Record<string, string | number | undefined>>) =>
  Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(String(value))}"`)
    .join('')

/** What XML 1.0 has no character for is left out. */
export const escaped = (text: string) =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\p{Surrogate}]/gu, '')
    .replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)
