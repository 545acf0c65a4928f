/** `npm run reference`: generates the reference configuration, the JSON Schemas for editors and the lists in docs/ from the code. */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { inlineYaml } from '../src/check/yaml.js'
import { type Flags, runFlags } from '../src/cli/command.js'
import { topics } from '../src/cli/commands.js'
import { jsonSchemaOf } from '../src/config/json-schema.js'
import { allOptions } from '../src/config/options.js'
import { configReference } from '../src/config/print.js'
import { configSchema } from '../src/config/schema.js'
import { openApiOf } from '../src/platform/openapi/document.js'
import { rulesSchema } from '../src/replies/index.js'
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

const item = (name: string, meaning: string) => `- \`${name}\`: ${meaning}`

/** The page has room for the first sentence of a description; `standin config init` prints all of it. */
const firstSentence = (text: string) => /^.*?\.(?= [A-Z]|$)/.exec(text)?.[0] ?? text

/** A list of fields. A page explains once what many operations take: the scope, and the filters of requests, which are the longest list. */
function fieldsText(names: readonly string[]): string {
  const own = names.filter(name => name !== 'scope')
  return own.length > 10 ? '[filters](#searching-the-journal)' : own.map(name => `\`${name}\``).join(', ')
}

/** A line for each operation whose path begins with `prefix`. */
function operationsList({ paths, components }: OpenApiDocument, prefix: string): string {
  const fieldsOf = ({ $ref, properties = {} }: BodySchema = {}): readonly string[] =>
    $ref ? fieldsOf(components.schemas[path.basename($ref)]) : Object.keys(properties)
  const lines = Object.entries(paths)
    .filter(([at]) => at.startsWith(prefix))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([at, methods]) =>
      Object.entries(methods).map(([method, { summary, parameters = [], requestBody }]) => {
        const query = fieldsText(parameters.filter(one => one.in === 'query').map(({ name }) => name))
        const body = fieldsText(fieldsOf(requestBody?.content['application/json']?.schema))
        const takes = [...(query ? [`Query: ${query}.`] : []), ...(body ? [`Body: ${body}.`] : [])]
        return item(`${method.toUpperCase()} ${at.slice(prefix.length)}`, [firstSentence(summary), ...takes].join(' '))
      }),
    )
  return lines.join('\n')
}

/** Longer defaults are left to `standin config init`; these mean that there is nothing. */
const LONGEST_DEFAULT = 60
const emptyDefaults: readonly string[] = ['""', '[]', '{}']

/** A line for each option. */
const optionsList = (): string =>
  allOptions()
    .map(({ path: at, initial, meaning }) => {
      const written = inlineYaml(initial)
      const isShown = written.length <= LONGEST_DEFAULT && !emptyDefaults.includes(written)
      const shown = isShown ? ` (\`${written}\`)` : ''
      return `- \`${at.join('.')}\`${shown}: ${firstSentence(meaning)}`
    })
    .join('\n')

/** A line for each flag. */
const flagsList = (flags: Flags) =>
  Object.entries(flags)
    .map(([name, { value, meaning }]) => item(`--${name}${value ? ` ${value}` : ''}`, meaning))
    .join('\n')

/** A section for each topic, with its commands and their flags. Flags that `standin dev` has as well are only named. */
async function commandSections(): Promise<string> {
  const sections: string[] = []
  for (const { topic, commands } of topics) {
    sections.push(`## ${topic}`)
    for (const { name, usage, does, load } of commands) {
      const flags = Object.entries((await load()).flags)
      const isKnown = ([flag, { meaning }]: (typeof flags)[number]) =>
        name !== 'dev' && (runFlags as Flags)[flag]?.meaning === meaning
      const own = flagsList(Object.fromEntries(flags.filter(entry => !isKnown(entry))))
      const known = flags
        .filter(isKnown)
        .map(([flag]) => `\`--${flag}\``)
        .join(', ')
      sections.push(`### \`standin ${usage}\``, `${does}.`)
      if (own !== '') sections.push(own)
      if (known !== '') sections.push(`As for \`standin dev\`: ${known}.`)
    }
  }
  return sections.join('\n\n')
}

/** The page with `list` between the comments of that name. */
function withList(page: string, name: string, list: string): string {
  const [start, end] = [`<!-- ${name}: npm run reference -->`, `<!-- /${name} -->`]
  const [before, rest = ''] = page.split(start)
  const [, after] = rest.split(end)
  if (after === undefined) throw new Error(`The page has no ${start} … ${end}.`)
  return `${before}${start}\n\n${list}\n\n${end}${after}`
}

/** The generated files by path. */
export async function referenceFiles(): Promise<Readonly<Record<string, string>>> {
  const { config } = loadConfig({ cwd: root, file: false, env: {} })
  const document = (await openApiOf(config, { url: 'http://127.0.0.1:4100' })) as OpenApiDocument
  const page = (name: string) => readFileSync(path.join(root, 'docs', name), 'utf8')
  return {
    'platform.config.yaml': configReference('./src/config/config.schema.json'),
    'src/config/config.schema.json': await jsonSchemaOf(configSchema, 'Configuration of Standin', { variables: true }),
    'src/replies/replies.schema.json': await jsonSchemaOf(rulesSchema, 'Rules for the replies of the emulated model'),
    'docs/commands.md': withList(page('commands.md'), 'commands', await commandSections()),
    'docs/control-api.md': withList(page('control-api.md'), 'operations', operationsList(document, '/__standin')),
    'docs/dashboard.md': withList(
      page('dashboard.md'),
      'dashboard-operations',
      operationsList(document, '/dashboard/api'),
    ),
    'docs/configuration.md': withList(page('configuration.md'), 'options', optionsList()),
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, text] of Object.entries(await referenceFiles())) writeFileSync(path.join(root, file), text)
}
