/** Generates from the code: with `npm run reference` the repository's configuration and the lists in docs/, with `npm run build` the JSON Schemas for editors. */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { jsonSchemaOf } from '../src/check/form-schema.js'
import { inlineYaml } from '../src/check/yaml.js'
import { controlOperations } from '../src/control/operations.js'
import type { Operation, Operations, Schema } from '../src/core/operation.js'
import { dashboardOperations } from '../src/dashboard/operations.js'
import { allOptions } from '../src/platform/config/options.js'
import { firstConfig } from '../src/platform/config/print.js'
import { schemaFiles } from './schemas.js'
import { matrixText } from './together/matrix.js'

const root = path.resolve(import.meta.dirname, '..')

const item = (name: string, meaning: string) => `- \`${name}\`: ${meaning}`

/** The page has room for the first sentence of a description; the JSON Schema has all of it. */
const firstSentence = (text: string) => /^.*?\.(?= [A-Z]|$)/.exec(text)?.[0] ?? text

/** What the page explains once, since many operations take it. */
const explainedOnce = ['scope', 'search', 'limit', 'offset']

/** A list of fields; the filters of requests, which are the longest, have a section of their own. */
function fieldsText(names: readonly string[]): string {
  const own = names.filter(name => !explainedOnce.includes(name))
  return own.length > 10 ? '[filters](#searching-the-journal)' : own.map(name => `\`${name}\``).join(', ')
}

/** The fields of a body's schema. */
async function fieldsOf(body: Schema): Promise<readonly string[]> {
  const { $ref, $defs = {}, properties = {} } = await jsonSchemaOf(body)
  return Object.keys(($ref && $defs[path.basename($ref)]?.properties) || properties)
}

/** A line for each operation, but for those that only the processes of one run call. */
async function operationsList(operations: Operations): Promise<string> {
  const sorted = Object.values(operations).toSorted((a, b) =>
    pathOf(a) < pathOf(b) ? -1 : pathOf(a) > pathOf(b) ? 1 : 0,
  )
  const lines = sorted
    .filter(one => pathOf(one) !== '/run')
    .map(async ({ at, does, query, body }) => {
      const inQuery = fieldsText(Object.keys(query && 'entries' in query ? (query.entries as object) : {}))
      const inBody = fieldsText(body ? await fieldsOf(body) : [])
      const takes = [...(inQuery ? [`Query: ${inQuery}.`] : []), ...(inBody ? [`Body: ${inBody}.`] : [])]
      return item(at, [firstSentence(does), ...takes].join(' '))
    })
  return (await Promise.all(lines)).join('\n')
}

const pathOf = ({ at }: Operation) => at.split(' ')[1] ?? ''

/** Operations need no implementation to be listed. */
const noParts = {} as never

/** Longer defaults are left to `standin config print`; these mean that there is nothing. */
const LONGEST_DEFAULT = 30
const emptyDefaults: readonly string[] = ['""', '[]', '{}']

function optionText(name: string, initial: unknown): string {
  const written = inlineYaml(initial)
  const isShown = written.length <= LONGEST_DEFAULT && !emptyDefaults.includes(written)
  return `\`${name}\`${isShown ? ` (${written})` : ''}`
}

/** A line for the options at the top, and one for each group. */
function optionsList(): string {
  const groups = Map.groupBy(allOptions(), ({ path: [first = '', ...rest] }) => (rest.length === 0 ? '' : first))
  const lines = [...groups].map(([group, options]) => {
    const named = options.map(({ path: at, initial }) => optionText(at.slice(group === '' ? 0 : 1).join('.'), initial))
    return `- ${group === '' ? '' : `\`${group}\`: `}${named.join(', ')}`
  })
  return lines.join('\n')
}

/** The page with `list` between the comments of that name. */
function withList(page: string, name: string, list: string): string {
  const [start, end] = [`<!-- ${name}: npm run reference -->`, `<!-- /${name} -->`]
  const [before, rest = ''] = page.split(start)
  const [, after] = rest.split(end)
  if (after === undefined) throw new Error(`The page has no ${start} … ${end}.`)
  return `${before}${start}\n\n${list}\n\n${end}${after}`
}

/** The generated files of the repository by path. */
export async function referenceFiles(): Promise<Readonly<Record<string, string>>> {
  const page = (name: string) => readFileSync(path.join(root, 'docs', name), 'utf8')
  return {
    'platform.config.yaml': firstConfig('.'),
    'docs/control-api.md': withList(
      page('control-api.md'),
      'operations',
      await operationsList(controlOperations(noParts)),
    ),
    'docs/dashboard.md': withList(
      page('dashboard.md'),
      'dashboard-operations',
      await operationsList(dashboardOperations(noParts)),
    ),
    'docs/configuration.md': withList(page('configuration.md'), 'options', optionsList()),
    'docs/testing.md': withList(page('testing.md'), 'together', matrixText()),
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = process.argv[2] === 'schemas' ? schemaFiles() : referenceFiles()
  for (const [file, text] of Object.entries(await files)) writeFileSync(path.join(root, file), text)
}
