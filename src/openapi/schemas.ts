/** An OpenAPI document in memory, and the translation of its schemas to JSON Schema. */
import { isUsable } from '../check/expressions.js'
import { isObject } from '../core/json.js'
import { percentDecoded } from '../core/paths.js'

export type Node = Readonly<Record<string, unknown>>

export type OpenApiDocument = ReturnType<typeof documentOf>

/** A longer chain of references is treated as circular. */
const MOST_REFERENCES = 50

/** `name` is the file, as the configuration names it. */
export function documentOf(name: string, root: Node) {
  /** The value at a reference such as `#/components/schemas/Project`; `undefined` if there is none. */
  const at = (reference: string): unknown =>
    pointerSteps(reference).reduce<unknown>(
      (value, step) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, step) ? (value as Node)[step] : undefined,
      root,
    )
  return {
    name,
    version: String(root.openapi),
    root,
    at,
    /** Follows references, and returns other values unchanged; `undefined` if a reference cannot be resolved. */
    resolve(value: unknown): unknown {
      let found = value
      for (let i = 0; isObject(found) && typeof found.$ref === 'string'; i++) {
        if (i > MOST_REFERENCES) return undefined
        found = at(found.$ref)
      }
      return found
    },
  }
}

/** The segments of a JSON pointer such as `#/paths/~1projects/get`. */
export const pointerSteps = (pointer: string): readonly string[] =>
  pointer
    .replace(/^#?\/?/, '')
    .split('/')
    .filter(step => step !== '')
    .map(step => percentDecoded(step).replaceAll('~1', '/').replaceAll('~0', '~'))

/** Which messages a schema is for: some fields are only for requests (`writeOnly`) or only for responses (`readOnly`). */
type Direction = 'request' | 'response'

/** The keywords whose values are schemas: one, a list of them, or a map of them. */
const single = new Set(
  'items additionalProperties unevaluatedItems unevaluatedProperties propertyNames contains not if then else'.split(
    ' ',
  ),
)
const lists = new Set('allOf anyOf oneOf prefixItems'.split(' '))
const maps = new Set('properties patternProperties dependentSchemas'.split(' '))

/** Keywords that do not constrain a value, or that are translated elsewhere. */
const omittedKeywords = new Set(
  (
    'discriminator xml externalDocs readOnly writeOnly deprecated nullable contentSchema contentMediaType ' +
    // Those of a response or request body, for a schema that refers to one.
    'content headers links ' +
    '$schema $id $anchor $dynamicAnchor $dynamicRef $comment $defs definitions __proto__'
  ).split(' '),
)

/** Translates one schema. The schemas that it refers to are under `$defs`. */
export function translateSchema(document: OpenApiDocument, schema: unknown, direction: Direction): Node {
  const names = new Map<string, string>()
  const pending: string[] = []
  const refer = (reference: string) => {
    if (!names.has(reference)) {
      names.set(reference, `d${names.size}`)
      pending.push(reference)
    }
    return `#/$defs/${names.get(reference)}`
  }
  const translator = new Translator(document, direction, refer)
  const root = translator.translate(schema)
  const definitions: Record<string, unknown> = {}
  for (let next = pending.pop(); next !== undefined; next = pending.pop())
    definitions[names.get(next) ?? ''] = translator.translate(document.at(next))
  const result = isObject(root) ? root : root === false ? { not: {} } : {}
  return names.size === 0 ? result : { ...result, $defs: definitions }
}

/** Translates schemas; `refer` returns the replacement for a reference. */
class Translator {
  private readonly isVersion30: boolean

  constructor(
    private readonly document: OpenApiDocument,
    private readonly direction: Direction,
    private readonly refer: (reference: string) => string,
  ) {
    this.isVersion30 = document.version.startsWith('3.0')
  }

  translate(schema: unknown, hidden: ReadonlySet<string> = none): Node | boolean {
    if (typeof schema === 'boolean') return schema
    if (!isObject(schema)) return true
    const reference = schema.$ref ?? schema.$dynamicRef
    const isReference = typeof reference === 'string' && reference.startsWith('#/')
    // OpenAPI 3.0 ignores the siblings of a $ref. Authors write nullable there all the same.
    if (isReference && this.isVersion30) return this.orNull(schema, { $ref: this.refer(reference) })
    const result = this.withKeywords(schema, union(hidden, this.hiddenIn(schema)))
    if (isReference) result.$ref = this.refer(reference)
    else delete result.$ref
    this.discriminate(schema, result)
    return this.orNull(schema, result)
  }

  private orNull({ nullable }: Node, result: Record<string, unknown>): Node {
    return this.isVersion30 && nullable === true ? withNull(result) : result
  }

  private withKeywords(schema: Node, hidden: ReadonlySet<string>): Record<string, unknown> {
    const result: Record<string, unknown> = {}
    for (const [keyword, value] of Object.entries(schema)) {
      if (omittedKeywords.has(keyword) || keyword.startsWith('x-')) continue
      if (keyword === 'required') result.required = asList(value).filter(name => !hidden.has(String(name)))
      else if (keyword === 'pattern') Object.assign(result, isPattern(value) && { pattern: value })
      else if (single.has(keyword)) result[keyword] = this.oneOrMore(value)
      else if (lists.has(keyword))
        result[keyword] = asList(value).map(one => this.translate(one, hiddenInPart(keyword, hidden)))
      else if (maps.has(keyword)) result[keyword] = this.mapOf(keyword, value, hidden)
      else result[keyword] = value
    }
    return result
  }

  private oneOrMore(value: unknown): unknown {
    return Array.isArray(value) ? value.map(one => this.translate(one)) : this.translate(value)
  }

  private mapOf(keyword: string, value: unknown, hidden: ReadonlySet<string>): unknown {
    if (!isObject(value)) return {}
    const kept = Object.entries(value).filter(([name]) => {
      if (keyword === 'patternProperties') return isPattern(name)
      return keyword !== 'properties' || this.direction === 'request' || !hidden.has(name)
    })
    return Object.fromEntries(kept.map(([name, one]) => [name, this.translate(one)]))
  }

  /** Properties that requests or responses may omit, even if another part of an `allOf` requires them. */
  private hiddenIn(schema: Node): ReadonlySet<string> {
    const keyword = this.direction === 'request' ? 'readOnly' : 'writeOnly'
    const parts = [schema, ...asList(schema.allOf).map(part => this.document.resolve(part))].filter(isObject)
    const names = parts.flatMap(({ properties }) =>
      Object.entries(isObject(properties) ? properties : {}).flatMap(([name, property]) => {
        const resolved = this.document.resolve(property)
        return isObject(resolved) && resolved[keyword] === true ? [name] : []
      }),
    )
    return names.length === 0 ? none : new Set(names)
  }

  /** JSON Schema has no discriminator, so each alternative requires its own value of the property. */
  private discriminate({ discriminator, oneOf, anyOf }: Node, result: Record<string, unknown>): void {
    if (!isObject(discriminator) || typeof discriminator.propertyName !== 'string') return
    const { propertyName: name } = discriminator
    const mapping = isObject(discriminator.mapping) ? discriminator.mapping : {}
    for (const [keyword, branches] of Object.entries({ oneOf, anyOf }))
      if (Array.isArray(branches) && Array.isArray(result[keyword]))
        result[keyword] = result[keyword].map((branch, i) =>
          this.withDiscriminatorValue(branch, branches[i], name, mapping),
        )
  }

  private withDiscriminatorValue(branch: unknown, original: unknown, name: string, mapping: Node): unknown {
    const reference = isObject(original) ? original.$ref : undefined
    if (typeof reference !== 'string' || this.listsValues(this.document.resolve(original), name)) return branch
    const schemaName = reference.slice(reference.lastIndexOf('/') + 1)
    const mapped = Object.keys(mapping).filter(key => mapping[key] === reference || mapping[key] === schemaName)
    const names = mapped.length > 0 ? mapped : [schemaName]
    return { allOf: [branch, { properties: { [name]: { enum: names } }, required: [name] }] }
  }

  /** Whether the schema lists the values of a property itself. */
  private listsValues(schema: unknown, name: string): boolean {
    if (!isObject(schema)) return false
    const property = isObject(schema.properties) ? this.document.resolve(schema.properties[name]) : undefined
    if (isObject(property) && ('enum' in property || 'const' in property)) return true
    return asList(schema.allOf).some(part => {
      const { properties } = this.document.resolve(part) as Node
      return this.listsValues({ properties }, name)
    })
  }
}

const none: ReadonlySet<string> = new Set()

const union = (one: ReadonlySet<string>, other: ReadonlySet<string>) =>
  other.size === 0 ? one : new Set([...one, ...other])

const hiddenInPart = (keyword: string, hidden: ReadonlySet<string>) => (keyword === 'allOf' ? hidden : none)

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const isPattern = (value: unknown): boolean => typeof value === 'string' && isUsable(value)

function withNull(schema: Record<string, unknown>): Node {
  const { type, enum: listed } = schema
  const isComposed = ['$ref', 'allOf', 'anyOf', 'oneOf'].some(keyword => keyword in schema)
  if (isComposed || (type === undefined && listed === undefined)) return { anyOf: [schema, { type: 'null' }] }
  return {
    ...schema,
    ...(typeof type === 'string' && { type: [type, 'null'] }),
    ...(Array.isArray(listed) && { enum: listed.includes(null) ? listed : [...listed, null] }),
  }
}
