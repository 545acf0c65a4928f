/** The JSON Schemas of the files that users write, for editors. */
import { type FormSchema, jsonSchemaOf } from '../src/check/form-schema.js'
import { configSchema } from '../src/platform/config/schema.js'
import { conditionForms, rulesSchema } from '../src/replies/index.js'

/** The schemas by path. Parts that repeat are written once, below `$defs`. */
export async function schemaFiles(): Promise<Readonly<Record<string, string>>> {
  const ofConfig = await jsonSchemaOf(configSchema)
  const ofRules = await jsonSchemaOf(rulesSchema, conditionForms)
  const withEnvironment = insideWithVariables({ ...ofConfig, $defs: { variable: aVariable } })
  return {
    'dist/config.schema.json': fileOf('Configuration of Standin', withEnvironment),
    'dist/replies.schema.json': fileOf('Rules for the replies of the emulated model', ofRules),
  }
}

const fileOf = (title: string, schema: FormSchema) => inJson({ ...plainer(withDefinitions(schema)), title })

/** As JSON, with lists of words and numbers on one line. */
const inJson = (schema: object) =>
  `${JSON.stringify(schema, null, 2).replace(/\[\s+[^[\]{}]+?\s+\]/g, list =>
    list
      .replace(/\s*\n\s*/g, ' ')
      .replace('[ ', '[')
      .replace(/ \]$/, ']'),
  )}\n`

/** The same with fewer words: a value that may be null has two types, and what says little is left out, and texts may be too short for the check of the file. */
function plainer(schema: FormSchema): FormSchema {
  const { required, propertyNames, minLength: _, minItems: __, ...inside } = withParts(schema, plainer)
  const { anyOf: [first, second, ...more] = [], ...around } = inside
  const isOrNull =
    typeof first?.type === 'string' && first.enum === undefined && second?.type === 'null' && more.length === 0
  return {
    ...(isOrNull ? { ...first, ...around, type: [first.type, 'null'] } : inside),
    ...(required && required.length > 0 && { required }),
    // Names are always texts.
    ...((propertyNames?.pattern ?? propertyNames?.enum) !== undefined && { propertyNames }),
  }
}

/** What a text contains that stands for an environment variable, which may replace any value. */
const VARIABLE = '\\$\\{'
const aVariable: FormSchema = { type: 'string', pattern: VARIABLE }
const toVariable: FormSchema = { $ref: '#/$defs/variable' }
const typesWithoutText = new Set<unknown>(['integer', 'number', 'boolean', 'array'])

/** The schema, which accepts a variable in place of a value as well. */
function withVariable(schema: FormSchema): FormSchema {
  const inside = insideWithVariables(schema)
  const { type, pattern, anyOf } = inside
  if (anyOf?.some(refusesText)) return { ...inside, anyOf: [...anyOf, toVariable] }
  // A pattern says nothing about values that are not texts.
  if (typesWithoutText.has(type)) return { ...inside, type: [type, 'string'], pattern: VARIABLE }
  if (pattern !== undefined) return { ...inside, pattern: `${pattern}|${VARIABLE}` }
  if (!refusesText(inside)) return inside
  const { enum: _, const: __, format: ___, type: ____, ...remarks } = inside
  const value = { ...inside, description: undefined, default: undefined }
  return { ...remarks, anyOf: [value, toVariable] }
}

const words = ['enum', 'const', 'format'] as const
const refusesText = (schema: FormSchema) =>
  typesWithoutText.has(schema.type) || words.some(keyword => schema[keyword] !== undefined)

const insideWithVariables = (schema: FormSchema): FormSchema =>
  withParts(schema, (part, _name, isChoice) => (isChoice ? insideWithVariables(part) : withVariable(part)))

/** The schema with each of its parts changed. A part has the name of the field that it describes, or is one of several choices. */
function withParts(
  schema: FormSchema,
  change: (part: FormSchema, name: string | undefined, isChoice: boolean) => FormSchema,
): FormSchema {
  const { properties, additionalProperties: others, items, anyOf, $defs } = schema
  const each = (parts: Readonly<Record<string, FormSchema>>) =>
    Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, change(part, name, false)]))
  return {
    ...schema,
    ...(properties && { properties: each(properties) }),
    ...(typeof others === 'object' && { additionalProperties: change(others, undefined, false) }),
    ...(items && { items: change(items, undefined, false) }),
    ...(anyOf && { anyOf: anyOf.map(part => change(part, undefined, true)) }),
    ...($defs && { $defs: each($defs) }),
  }
}

/** A part that is shorter than this as JSON stays where it is. */
const LEAST_CHARACTERS = 70

/** Writes each part that repeats once. It has the name of the first field that it describes. */
function withDefinitions(schema: FormSchema): FormSchema {
  const counts = new Map<string, number>()
  const names = new Map<string, string>()
  const definitions: Record<string, FormSchema> = {}

  function count(part: FormSchema): FormSchema {
    const key = withoutRemarks(part)
    const earlier = counts.get(key) ?? 0
    counts.set(key, earlier + 1)
    // What only occurs inside of a part that repeats does not itself repeat.
    return earlier === 0 ? withParts(part, count) : part
  }

  function define(part: FormSchema, field: string): FormSchema {
    const key = withoutRemarks(part)
    if ((counts.get(key) ?? 0) < 2 || key.length < LEAST_CHARACTERS)
      return withParts(part, (inner, name = field) => define(inner, name))
    if (!names.has(key)) {
      const name = unusedName(field, definitions)
      names.set(key, name)
      definitions[name] = {}
      definitions[name] = withParts(JSON.parse(key), (inner, own = field) => define(inner, own))
    }
    return { ...remarksOf(part), $ref: `#/$defs/${names.get(key)}` }
  }

  const { $defs = {}, ...rest } = schema
  for (const [name, part] of Object.entries($defs)) {
    names.set(withoutRemarks(part), name)
    definitions[name] = {}
  }
  withParts(schema, count)
  for (const [name, part] of Object.entries($defs))
    definitions[name] = withParts(part, (inner, own = name) => define(inner, own))
  return { ...withParts(rest, (part, name = 'item') => define(part, name)), $defs: definitions }
}

/** What is said about a part stands beside a reference to it. */
const remarksOf = ({ description, default: initial }: FormSchema): FormSchema => ({
  ...(description !== undefined && { description }),
  ...(initial !== undefined && { default: initial }),
})

const withoutRemarks = ({ description: _, default: __, ...part }: FormSchema): string => JSON.stringify(part)

/** The name, with a number if it is in use. */
function unusedName(name: string, used: object, number = 2): string {
  if (!(name in used)) return name
  return `${name}${number}` in used ? unusedName(name, used, number + 1) : `${name}${number}`
}
