/** Completes the keys and values of rules from the schema of rule files. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import ruleFile from '../../replies/replies.schema.json' with { type: 'json' }

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema | boolean
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
}

const root = ruleFile as { readonly $defs?: Readonly<Record<string, unknown>> } & Schema

export function completeRule({ state, pos, explicit }: CompletionContext): CompletionResult | null {
  const before = state.sliceDoc(0, pos)
  const [word = ''] = /[\w-]*$/.exec(before) ?? []
  if (word === '' && !explicit) return null
  const place = placeOf(before.slice(0, before.length - word.length))
  if (!place) return null
  const schemas = place.path.reduce<readonly Schema[]>(
    (above, key) => above.flatMap(schema => below(schema, key)),
    [root],
  )
  const options = place.isValue ? schemas.flatMap(valuesOf) : schemas.flatMap(keysOf)
  const seen = new Set<string>()
  const fresh = options.filter(({ label }) => !seen.has(label) && seen.add(label))
  return fresh.length === 0 ? null : { from: pos - word.length, options: fresh, validFor: /^[\w-]*$/ }
}

/** A list item counts as the key `-`. */
type Path = readonly string[]

/** The keys around the end of a text, and whether a value comes next. Goes by the indentation, and by the braces in the last line. */
export function placeOf(before: string): { readonly path: Path; readonly isValue: boolean } | undefined {
  const lines = before.split('\n')
  const line = lines.pop() ?? ''
  const [lead = ''] = /^ *(?:- *)*/.exec(line) ?? []
  const path: string[] = [...'-'.repeat(lead.split('-').length - 1)]
  let indent = lead.indexOf('-') < 0 ? lead.length : lead.indexOf('-')
  for (const above of lines.toReversed()) {
    const [, spaces = '', dashes = '', key] =
      /^( *)((?:- *)*)([\w.[\]-]+):/.exec(above) ?? /^( *)((?:- *)+)/.exec(above) ?? []
    const column = spaces.length + dashes.length
    if (dashes !== '' && spaces.length < indent && column <= indent) {
      // The key after the dash is part of the path only if the end is indented deeper than that key.
      if (key !== undefined && column < indent) path.unshift(key)
      path.unshift(...'-'.repeat(dashes.split('-').length - 1))
      indent = spaces.length
    } else if (
      key !== undefined &&
      dashes === '' &&
      (spaces.length < indent || (path[0] === '-' && spaces.length === indent))
    ) {
      path.unshift(key)
      indent = spaces.length
    }
  }
  return withinLine(line.slice(lead.length), path)
}

/** The keys and braces of one line: after `when: { user: `, the path is `when`, `user`, and a value comes next. */
function withinLine(line: string, outer: Path) {
  const path = [...outer]
  let isValue = false
  for (const [piece, key] of line.matchAll(/([\w.-]+): *|'[^']*'|"[^"]*"|[{}[\],#]/g)) {
    if (piece === '#') return undefined
    if (key !== undefined) path.push(key)
    else if (piece === '[') path.push('-')
    else if (piece === ',' && path.at(-1) !== '-') path.pop()
    else if (piece === '}' || piece === ']') path.pop()
    isValue = key !== undefined || piece === '[' || (piece === ',' && path.at(-1) === '-')
  }
  const rest = line.replace(/.*[:{}[\],] */, '')
  return rest.trim() === '' ? { path, isValue } : undefined
}

/** A schema with all that it refers to: `$ref`, `anyOf`, `allOf` and `oneOf`. */
function joined(schema: Schema): readonly Schema[] {
  const { $ref, anyOf = [], allOf = [], oneOf = [] } = schema
  const named = $ref === undefined ? [] : [root.$defs?.[$ref.replace('#/$defs/', '')] as Schema]
  return [schema, ...[...named, ...anyOf, ...allOf, ...oneOf].flatMap(joined)]
}

function below(schema: Schema, key: string): readonly Schema[] {
  return joined(schema).flatMap(({ properties, additionalProperties, items }) => {
    const found = key === '-' ? items : (properties?.[key] ?? additionalProperties)
    return typeof found === 'object' ? [found] : []
  })
}

const keysOf = (schema: Schema): readonly Completion[] =>
  joined(schema).flatMap(({ properties = {} }) =>
    Object.entries(properties).map(([label, { description }]) => ({
      ...{ label, apply: `${label}: `, type: 'property' },
      ...(description !== undefined && { info: description }),
    })),
  )

const valuesOf = (schema: Schema): readonly Completion[] =>
  joined(schema)
    .flatMap(({ enum: listed = [], const: only, type }) => [
      ...listed,
      ...(only === undefined ? [] : [only]),
      ...([type].flat().includes('boolean') ? [true, false] : []),
    ])
    .map(value => ({ label: String(value), type: 'keyword' }))
