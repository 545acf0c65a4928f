/** `npm run reference`: generates the reference configuration, the JSON Schemas for editors and the tables in docs/ from the code. */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { inlineYaml } from '../src/check/yaml.js'
import { type Flags, sharedFlags } from '../src/cli/command.js'
import { topics } from '../src/cli/commands.js'
import { configJsonSchema } from '../src/cli/config.js'
import { repliesJsonSchema } from '../src/cli/replies.js'
import { allOptions } from '../src/config/options.js'
import { configReference } from '../src/config/print.js'
import { openApiOf } from '../src/platform/openapi/document.js'
import { loadConfig } from './configuration.js'

const root = path.resolve(import.meta.dirname, '..')

interface DocumentOperation {
  readonly summary: string
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: BodySchema }>> }
}

interface BodySchema {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, unknown>>
}

interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, BodySchema>> }
}

const row = (...cells: readonly string[]) => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`

const inCode = (names: readonly string[]) => names.map(name => `\`${name}\``).join(', ')

/** A row for each operation whose path begins with `prefix`. */
function operationsTable({ paths, components }: OpenApiDocument, prefix: string): string {
  const fieldsOf = ({ $ref, properties = {} }: BodySchema = {}): readonly string[] =>
    $ref ? fieldsOf(components.schemas[path.basename($ref)]) : Object.keys(properties)
  const rows = Object.entries(paths)
    .filter(([at]) => at.startsWith(prefix))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([at, methods]) =>
      Object.entries(methods).map(([method, { summary, parameters = [], requestBody }]) => {
        const query = parameters.filter(one => one.in === 'query').map(({ name }) => name)
        const body = fieldsOf(requestBody?.content['application/json']?.schema)
        const takes = [
          ...(query.length > 0 ? [`Query: ${inCode(query)}.`] : []),
          ...(body.length > 0 ? [`Body: \`{ ${body.join(', ')} }\`.`] : []),
        ]
        return row(`\`${method.toUpperCase()} ${at.slice(prefix.length)}\``, [summary, ...takes].join(' '))
      }),
    )
  return ['| request | what it does |', '| --- | --- |', ...rows].join('\n')
}

/** A row for each option. */
const optionsTable = (): string =>
  [
    '| option | default | meaning |',
    '| --- | --- | --- |',
    ...allOptions().map(({ path: at, initial, meaning }) =>
      row(`\`${at.join('.')}\``, `\`${inlineYaml(initial)}\``, meaning),
    ),
  ].join('\n')

const flagsTable = (flags: Flags) =>
  [
    '| flag | meaning |',
    '| --- | --- |',
    ...Object.entries(flags)
      .filter(([, { isHidden }]) => !isHidden)
      .map(([name, { value, short, meaning }]) =>
        row(`\`--${name}${value ? ` ${value}` : ''}\`${short ? `, \`-${short}\`` : ''}`, meaning),
      ),
  ].join('\n')

const sharedMeanings: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(sharedFlags).map(([name, { meaning }]) => [name, meaning]),
)

/** A section for each topic, with its commands and their own flags. */
async function commandSections(): Promise<string> {
  const sections = topics.map(async ({ topic, commands }) => {
    const texts = commands.map(async ({ usage, does, load }) => {
      const { flags, examples = [] } = await load()
      const own = Object.entries(flags).filter(([name, { meaning }]) => sharedMeanings[name] !== meaning)
      const width = Math.max(...examples.map(([line]) => line.length))
      const lines = examples.map(([line, meaning]) => `${line.padEnd(width)}   # ${meaning}`)
      return [
        `### \`standin ${usage}\``,
        `${does}.`,
        ...(own.length > 0 ? [flagsTable(Object.fromEntries(own))] : []),
        ...(lines.length > 0 ? [`\`\`\`sh\n${lines.join('\n')}\n\`\`\``] : []),
      ].join('\n\n')
    })
    return [`## ${topic}`, ...(await Promise.all(texts))].join('\n\n')
  })
  return (await Promise.all(sections)).join('\n\n')
}

/** The page with `table` between the comments of that name. */
function withTable(page: string, name: string, table: string): string {
  const [start, end] = [`<!-- ${name}: npm run reference -->`, `<!-- /${name} -->`]
  const [before, rest = ''] = page.split(start)
  const [, after] = rest.split(end)
  if (after === undefined) throw new Error(`The page has no ${start} … ${end}.`)
  return `${before}${start}\n\n${table}\n\n${end}${after}`
}

/** The generated files by path. */
export async function referenceFiles(): Promise<Readonly<Record<string, string>>> {
  const { config } = loadConfig({ cwd: root, file: false, env: {} })
  const document = (await openApiOf(config, { url: 'http://127.0.0.1:4100' })) as OpenApiDocument
  const page = (name: string) => readFileSync(path.join(root, 'docs', name), 'utf8')
  return {
    'platform.config.yaml': configReference('./src/config/config.schema.json'),
    'src/config/config.schema.json': await configJsonSchema(),
    'src/replies/replies.schema.json': await repliesJsonSchema(),
    'docs/commands.md': withTable(
      withTable(page('commands.md'), 'shared-flags', flagsTable(sharedFlags)),
      'commands',
      await commandSections(),
    ),
    'docs/control-api.md': withTable(page('control-api.md'), 'operations', operationsTable(document, '/__standin')),
    'docs/dashboard.md': withTable(
      page('dashboard.md'),
      'dashboard-operations',
      operationsTable(document, '/dashboard/api'),
    ),
    'docs/configuration.md': withTable(page('configuration.md'), 'options', optionsTable()),
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, text] of Object.entries(await referenceFiles())) writeFileSync(path.join(root, file), text)
}
