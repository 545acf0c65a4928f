/** Translates OpenAPI schemas to JSON Schema, with the definitions that they refer to. */
import type { JsonSchema } from '../core/exchange.js'
import { isObject } from '../core/json.js'
import type { Node, OpenApiDocument } from './document.js'

/** Some fields are only for requests (`writeOnly`) or only for answers (`readOnly`). */
export type Direction = 'request' | 'response'

/** The keywords whose values are schemas: one, a list of them, or a map of them. */
const single = new Set(
  'items additionalProperties unevaluatedItems unevaluatedProperties propertyNames contains not if then else'.split(
    ' ',
  ),
)
const lists = new Set('allOf anyOf oneOf prefixItems'.split(' '))
const maps = new Set('properties patternProperties dependentSchemas'.split(' '))

/** Keywords that do not constrain a value, or that are translated elsewhere. */
const dropped = new Set(
  (
    'discriminator xml externalDocs readOnly writeOnly deprecated nullable example contentSchema contentMediaType ' +
    '$schema $id $anchor $dynamicAnchor $dynamicRef $comment $defs definitions __proto__'
  ).split(' '),
)

/** Translates one schema, with everything that it refers to under `$defs`. */
export function translated(document: OpenApiDocument, schema: unknown, direction: Direction): JsonSchema {
  const names = new Map<string, string>()
  const waiting: string[] = []
  const refer = (reference: string) => {
    if (!names.has(reference)) {
      names.set(reference, `d${names.size}`)
      waiting.push(reference)
    }
    return `#/$defs/${names.get(reference)}`
  }
  const own = new Translator(document, direction, refer)
  const root = own.of(schema)
  const definitions: Record<string, unknown> = {}
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
    definitions[names.get(next) ?? ''] = own.of(document.at(next))
  const whole = isObject(root) ? root : root === false ? { not: {} } : {}
  return names.size === 0 ? whole : { ...whole, $defs: definitions }
}

/** Translates schemas; `refer` returns the replacement for a reference. */
export class Translator {
  private readonly isOld: boolean

  constructor(
    private readonly document: OpenApiDocument,
    private readonly direction: Direction,
    private readonly refer: (reference: string) => string,
  ) {
    this.isOld = document.version.startsWith('3.0')
  }

  of(schema: unknown, hidden: ReadonlySet<string> = none): JsonSchema | boolean {
    if (typeof schema === 'boolean') return schema
    if (!isObject(schema)) return true
    const reference = schema.$ref ?? schema.$dynamicRef
    const isReference = typeof reference === 'string' && reference.startsWith('#/')
    // OpenAPI 3.0 ignores the siblings of a $ref.
    if (isReference && this.isOld) return { $ref: this.refer(reference) }
    const whole = this.withKeywords(schema, union(hidden, this.hiddenIn(schema)))
    if (isReference) whole.$ref = this.refer(reference)
    else delete whole.$ref
    this.discriminate(schema, whole)
    return this.isOld ? inNewDialect(schema, whole) : withExample(schema, whole)
  }

  private withKeywords(schema: Node, hidden: ReadonlySet<string>): Record<string, unknown> {
    const whole: Record<string, unknown> = {}
    for (const [keyword, value] of Object.entries(schema)) {
      if (dropped.has(keyword) || keyword.startsWith('x-')) continue
      if (keyword === 'required') whole.required = asList(value).filter(name => !hidden.has(String(name)))
      else if (keyword === 'pattern') Object.assign(whole, isPattern(value) && { pattern: value })
      else if (single.has(keyword)) whole[keyword] = this.oneOrMore(value)
      else if (lists.has(keyword)) whole[keyword] = asList(value).map(one => this.of(one, inherited(keyword, hidden)))
      else if (maps.has(keyword)) whole[keyword] = this.mapOf(keyword, value, hidden)
      else whole[keyword] = value
    }
    return whole
  }

  private oneOrMore(value: unknown): unknown {
    return Array.isArray(value) ? value.map(one => this.of(one)) : this.of(value)
  }

  private mapOf(keyword: string, value: unknown, hidden: ReadonlySet<string>): unknown {
    if (!isObject(value)) return {}
    const kept = Object.entries(value).filter(([name]) => {
      if (keyword === 'patternProperties') return isPattern(name)
      return keyword !== 'properties' || this.direction === 'request' || !hidden.has(name)
    })
    return Object.fromEntries(kept.map(([name, one]) => [name, this.of(one)]))
  }

  /** Properties that requests or answers may omit, even if another part of an `allOf` requires them. */
  private hiddenIn(schema: Node): ReadonlySet<string> {
    const keyword = this.direction === 'request' ? 'readOnly' : 'writeOnly'
    const parts = [schema, ...asList(schema.allOf).map(part => this.document.resolved(part))].filter(isObject)
    const names = parts.flatMap(({ properties }) =>
      Object.entries(isObject(properties) ? properties : {}).flatMap(([name, property]) => {
        const resolved = this.document.resolved(property)
        return isObject(resolved) && resolved[keyword] === true ? [name] : []
      }),
    )
    return names.length === 0 ? none : new Set(names)
  }

  /** JSON Schema has no discriminator. Each alternative requires its own value here, so that a value fits only one. */
  private discriminate({ discriminator, oneOf, anyOf, properties }: Node, whole: Record<string, unknown>): void {
    if (!isObject(discriminator) || typeof discriminator.propertyName !== 'string') return
    const { propertyName: name } = discriminator
    const mapping = isObject(discriminator.mapping) ? discriminator.mapping : {}
    for (const [keyword, branches] of Object.entries({ oneOf, anyOf }))
      if (Array.isArray(branches) && Array.isArray(whole[keyword]))
        whole[keyword] = whole[keyword].map((branch, i) => this.named(branch, branches[i], name, mapping))
    if (oneOf || anyOf || Object.keys(mapping).length === 0 || this.fixes({ properties }, name)) return
    const own = isObject(whole.properties) ? whole.properties : {}
    const before = isObject(own[name]) ? own[name] : {}
    whole.properties = { ...own, [name]: { ...before, enum: Object.keys(mapping) } }
  }

  private named(branch: unknown, written: unknown, name: string, mapping: Node): unknown {
    const reference = isObject(written) ? written.$ref : undefined
    if (typeof reference !== 'string' || this.fixes(this.document.resolved(written), name)) return branch
    const own = reference.slice(reference.lastIndexOf('/') + 1)
    const mapped = Object.keys(mapping).filter(key => mapping[key] === reference || mapping[key] === own)
    const names = mapped.length > 0 ? mapped : [own]
    return { allOf: [branch, { properties: { [name]: { enum: names } }, required: [name] }] }
  }

  /** Whether the schema lists the values of a property itself. */
  private fixes(schema: unknown, name: string): boolean {
    if (!isObject(schema)) return false
    const property = isObject(schema.properties) ? this.document.resolved(schema.properties[name]) : undefined
    if (isObject(property) && ('enum' in property || 'const' in property)) return true
    return asList(schema.allOf).some(part => {
      const { properties } = this.document.resolved(part) as Node
      return this.fixes({ properties }, name)
    })
  }
}

const none: ReadonlySet<string> = new Set()

const union = (one: ReadonlySet<string>, other: ReadonlySet<string>) =>
  other.size === 0 ? one : new Set([...one, ...other])

const inherited = (keyword: string, hidden: ReadonlySet<string>) => (keyword === 'allOf' ? hidden : none)

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

function isPattern(value: unknown): boolean {
  try {
    return typeof value === 'string' && new RegExp(value) instanceof RegExp
  } catch {
    return false
  }
}

/** Converts the keywords that OpenAPI 3.0 writes differently from JSON Schema. */
function inNewDialect(schema: Node, translated: Record<string, unknown>): JsonSchema {
  const whole = { ...withExample(schema, translated) }
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (schema[flag] === true) {
      whole[flag] = schema[bound]
      delete whole[bound]
    } else if (schema[flag] === false) delete whole[flag]
  }
  return schema.nullable === true ? withNull(whole) : whole
}

function withNull(whole: Record<string, unknown>): JsonSchema {
  const { type, enum: listed } = whole
  if (type === undefined && listed === undefined) return { anyOf: [whole, { type: 'null' }] }
  return {
    ...whole,
    ...(typeof type === 'string' && { type: [type, 'null'] }),
    ...(Array.isArray(listed) && { enum: listed.includes(null) ? listed : [...listed, null] }),
  }
}

const withExample = ({ example }: Node, whole: Record<string, unknown>): Record<string, unknown> =>
  example === undefined || Array.isArray(whole.examples) ? whole : { ...whole, examples: [example] }
