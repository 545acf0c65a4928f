/** Small suites for each runner, whose tests ask a model that never says the same twice, and what it said when they ran before. */
import type { Files } from '../command.js'

/** Asks, and compares the answer with that of an earlier run: a replay must say the same to each test. */
const asking = `import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'

const INSTRUCTIONS = process.env.INSTRUCTIONS ?? 'You are a bot.'

export async function ask(content, { url = process.env.OPENAI_BASE_URL, key = process.env.OPENAI_API_KEY, headers } = {}) {
  const messages = [{ role: 'system', content: INSTRUCTIONS }, { role: 'user', content }]
  const response = await fetch(url + '/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages }),
  })
  const text = await response.text()
  assert.equal(response.status, 200, text)
  return JSON.parse(text).choices[0].message.content
}

/** The same question twice, and one of the test's own. */
export async function converse(test, options) {
  const said = [await ask('hello', options), await ask('hello', options), await ask('What about ' + test + '?', options)]
  mkdirSync('said', { recursive: true })
  const file = 'said/' + test + '.json'
  if (existsSync(file)) assert.deepEqual(said, JSON.parse(readFileSync(file, 'utf8')))
  else writeFileSync(file, JSON.stringify(said))
}
`

interface Suite {
  readonly files: Files
  /** The arguments for Node. */
  command(workers: number, ...files: readonly string[]): readonly string[]
}

const names = ['orders', 'refunds', 'search']

const filesOf = (ending: string, text: (name: string) => string): Files => ({
  'ask.mjs': asking,
  ...Object.fromEntries(names.map(name => [`tests/${name}.${ending}`, text(name)])),
})

/** Two tests in each of three files. */
export const runners = {
  vitest: {
    files: {
      'vitest.config.ts': "export default { test: { include: ['tests/*.test.mjs'] } }\n",
      ...filesOf(
        'test.mjs',
        name => `import { usePlatform } from 'standin/vitest'
import { expect, test } from 'vitest'
import { converse } from '../ask.mjs'

const platform = usePlatform({ env: true })

for (const one of ['${name} one', '${name} two'])
  test(one, async () => {
    await converse(one)
    expect(platform).toHaveReceivedTimes(3, '/v1/chat/completions')
  })
`,
      ),
    },
    command: (workers, ...files) => ['node_modules/vitest/vitest.mjs', 'run', `--maxWorkers=${workers}`, ...files],
  },
} as const satisfies Readonly<Record<string, Suite>>

/** How many requests a suite sends. */
export const REQUESTS = 18
