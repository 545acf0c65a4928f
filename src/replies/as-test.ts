/** Writes exchanges as a vitest test that runs as it is: their requests, and rules that give the same answers. */
import { contentOf } from '../chat/reader.js'
import { notForARule, PlatformError } from '../core/errors.js'
import { isObject } from '../core/json.js'
import { choicesIn, type Draft, type DraftSource } from './draft.js'

interface Step {
  readonly source: DraftSource
  readonly draft: () => Promise<Draft>
  /** The test's title, if it begins with this step. */
  readonly title: string
}

/** Rejects with a PlatformError that says why, if no test can be made of any of them. */
export async function testOf(steps: readonly Step[]): Promise<string> {
  const written = await Promise.all(steps.map(stepText))
  const rules = written.flatMap(({ rule }) => (rule ? [rule] : []))
  if (rules.length === 0) throw notForARule(written[0]?.reason ?? 'there is no request')
  return [
    "import { expect, test } from 'vitest'",
    "import { usePlatform } from 'standin/vitest'",
    '',
    `const platform = usePlatform({ rules: ${literal(rules)} })`,
    '',
    'const ask = (path: string, method: string, body?: string) =>',
    '  fetch(platform.url + path, {',
    '    method,',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
    '    headers: { authorization: `Bearer ${platform.apiKey}`, ...(body !== undefined && { "content-type": "application/json" }) },',
    '    ...(body !== undefined && { body }),',
    '  })',
    '',
    `test(${JSON.stringify(steps[0]?.title ?? 'a request')}, async () => {`,
    ...written.map(({ text }) => text),
    '})',
    '',
  ].join('\n')
}

const literal = (value: unknown, indent = '') => JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`)

interface Written {
  readonly text: string
  readonly rule?: object
  readonly reason?: string
}

async function stepText({ source, draft }: Step): Promise<Written> {
  const { method, path, query = '', body } = source.request
  try {
    const { rule } = await draft()
    const given = [query === '' ? path : `${path}?${query}`, method].map(text => JSON.stringify(text))
    if (body !== undefined)
      given.push(typeof body === 'string' ? JSON.stringify(body) : `JSON.stringify(${literal(body, '    ')})`)
    const call = given.join(', ')
    return { text: `  {\n    const response = await ask(${call})\n${checks(source)}\n  }`, rule }
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    return { text: `  // ${method} ${path} is left out: ${error.message}`, reason: error.message }
  }
}

/** What the test expects of an answer: its status, and the text that a model says. */
function checks({ request: { body }, status, response }: DraftSource): string {
  const lines = [`expect(response.status).toBe(${status})`]
  const [choice] = (status ?? 500) < 400 ? choicesIn(response) : []
  const { text = '', calls = [] } = choice ? contentOf(choice.message) : {}
  const isStream = isObject(body) && body.stream === true
  if (text !== '' || calls.length > 0) lines.push(`const answer = await response.text()`)
  if (text !== '' && isStream)
    lines.push(
      'const pieces = [...answer.matchAll(/"content":("(?:[^"\\\\]|\\\\.)*")/g)].map(([, piece]) => JSON.parse(piece ?? \'""\'))',
      `expect(pieces.join('')).toBe(${JSON.stringify(text)})`,
    )
  else if (text !== '')
    lines.push(`expect(JSON.parse(answer).choices[0].message.content).toBe(${JSON.stringify(text)})`)
  for (const { name } of calls) lines.push(`expect(answer).toContain(${JSON.stringify(`"name":"${name}"`)})`)
  return lines.map(line => `    ${line}`).join('\n')
}
