import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { kindOf } from '../../../src/dashboard/page/activity/words.js'
import { folderWith } from '../../command.js'

const root = path.resolve(import.meta.dirname, '../../..')
const fixture = (name: string) => readFileSync(path.join(import.meta.dirname, name), 'utf8')

/** A copy of the source. */
function copyOfSource(): string {
  const dir = folderWith({ 'package.json': readFileSync(path.join(root, 'package.json'), 'utf8') })
  cpSync(path.join(root, 'src'), path.join(dir, 'src'), { recursive: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(dir, 'node_modules'))
  return dir
}

/** Changes a file, which must have the text that is replaced. */
function change(file: string, ...replacements: readonly (readonly [text: string, by: string])[]) {
  let changed = readFileSync(file, 'utf8')
  for (const [text, by] of replacements) {
    expect(changed.split(text), file).toHaveLength(2)
    changed = changed.replace(text, () => by)
  }
  writeFileSync(file, changed)
}

test('a new endpoint takes three files, and has the rules, errors, limits, journal, recordings and names of the others', async () => {
  const dir = copyOfSource()
  // One: what it is and does. Two: the list. Three: the OpenAPI document.
  writeFileSync(path.join(dir, 'src/endpoints/reverse.ts'), fixture('reverse.ts.txt'))
  change(
    path.join(dir, 'src/endpoints/index.ts'),
    [
      "import type { Model } from './options.js'",
      "import type { Model } from './options.js'\nimport { reverse } from './reverse.js'",
    ],
    ['models, chatCompletions] as const', 'models, chatCompletions, reverse] as const'],
  )
  const openApi = path.join(dir, 'src/contract/openapi.yaml')
  const schema = 'Reversed: { type: object, properties: { text: { type: string } }, required: [text] }'
  change(
    openApi,
    ['\npaths:\n', `\npaths:\n${fixture('operation.yaml')}`],
    ['\n  schemas:\n', `\n  schemas:\n    ${schema}\n`],
  )

  mkdirSync(path.join(dir, 'dist'))
  cpSync(openApi, path.join(dir, 'dist/openapi.yaml'))
  writeFileSync(path.join(dir, 'story.ts'), fixture('story.ts.txt'))
  const child = spawn(process.execPath, ['--import', 'tsx', 'story.ts'], {
    cwd: dir,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const happened = JSON.parse(await text(child.stdout))

  const refused = (sentence: RegExp) => ({ error: expect.stringMatching(sentence) })
  expect(happened).toMatchObject({
    answers: {
      noKey: [401, refused(/credential/i)],
      otherKey: [401, refused(/POST \/v1\/reverse/)],
      good: [200, { text: 'cba' }],
      wrong: [400, refused(/^text is missing\./)],
      tooMany: [429, refused(/^Rate limit reached for requests: 2 per minute/)],
    },
    byOption: [200, { text: 'cba' }],
    recorded: [200, { text: 'cba' }],
    replayed: [
      [200, { text: 'cba' }],
      [424, refused(/^No recording matches POST \/v1\/reverse/)],
    ],
    violations: [
      { endpoint: 'POST /v1/reverse', violations: [{ sentence: expect.stringMatching(/^text must be a string/) }] },
    ],
    listed: {
      endpoints: expect.arrayContaining([{ method: 'POST', path: '/v1/reverse', credential: ['apiKey', 'user'] }]),
    },
    paths: { '/v1/reverse': { post: { operationId: 'reverse', security: [{ apiKey: [] }, { user: [] }] } } },
  })
  const { data } = happened.journal
  expect(data.map(kindOf)).toEqual(Array(5).fill('reverse'))
  expect(data.map(({ endpoint }: { endpoint: string }) => endpoint)).toEqual(Array(5).fill('POST /v1/reverse'))
}, 60_000)
