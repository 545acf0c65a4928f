/** Checks frames against the specification's own schema of each version. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'
import { Ajv, type AnySchemaObject } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { ProtocolVersion } from '../../src/core/json-rpc.js'

export type Frame = Readonly<Record<string, unknown>>

type Definitions = Readonly<Record<string, AnySchemaObject>>

const suite = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'))

/** The conformance suite bundles the `schema.json` files: the literals before the table of versions. */
function schemasOfSuite(): AnySchemaObject[] {
  const bundle = readFileSync(suite, 'utf8')
  const table = /;const \w+=\{"2025-03-26":(\w+),"2025-06-18":(\w+),"2025-11-25":(\w+),\[\w+\]:(\w+)\}/.exec(bundle)
  if (!table) throw new Error(`${suite} has no schemas where they were. Look for "2025-11-25" in it.`)
  const [, ...names] = table
  const literals = bundle.slice(bundle.indexOf(`${names[0]}={$schema:`), table.index)
  return structuredClone(runInNewContext(`var ${literals};[${names}]`))
}

/** The first version is not in the bundle. It is the second one without audio, as far as servers are concerned. */
const withoutAudio = (schema: AnySchemaObject): AnySchemaObject =>
  JSON.parse(JSON.stringify(schema).replaceAll(/,?\{"\$ref":"#\/definitions\/AudioContent"\}/g, ''))

const [march, june, november, july] = schemasOfSuite() as [Schema, Schema, Schema, Schema]
type Schema = AnySchemaObject
const schemas: Readonly<Record<ProtocolVersion, Schema>> = {
  '2024-11-05': withoutAudio(march),
  '2025-03-26': march,
  '2025-06-18': june,
  '2025-11-25': november,
  '2026-07-28': july,
}

function specificationOf(schema: Schema) {
  const key = '$defs' in schema ? '$defs' : 'definitions'
  const definitions: Definitions = schema[key]
  const ajv = key === '$defs' ? new Ajv2020({ strict: false }) : new Ajv({ strict: false })
  formats.default(ajv)
  ajv.addSchema(schema, 'specification')
  const mistakesBy = (name: string, value: unknown) => {
    const validate = ajv.getSchema(`specification#/${key}/${name}`)
    if (!validate) return [`there is no ${name}`]
    return validate(value)
      ? []
      : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
  }
  const resultOf = (method: string) => {
    const [name = ''] =
      Object.entries(definitions).find(([, { properties }]) => properties?.method?.const === method) ?? []
    const result = name.replace(/Request$/, 'Result')
    return result in definitions ? result : 'EmptyResult'
  }
  const oneOf = (...names: string[]) => names.find(name => name in definitions) ?? ''
  const errorOf = (code: number) =>
    Object.keys(definitions).find(name =>
      definitions[name]?.properties?.error?.allOf?.some((part: Schema) => part.properties?.code?.const === code),
    ) ?? oneOf('JSONRPCErrorResponse', 'JSONRPCError')
  return { mistakesBy, resultOf, oneOf, errorOf }
}

const specifications = new Map(Object.entries(schemas).map(([version, schema]) => [version, specificationOf(schema)]))

/** The mistakes in a frame of a server; empty if it fits the version. `method` is the method of the call that it answers. */
export function mistakesIn(frame: Frame, version: ProtocolVersion, method: string): readonly string[] {
  const specification = specifications.get(version)
  if (!specification) return [`there is no ${version}`]
  const { mistakesBy, resultOf, oneOf, errorOf } = specification
  if ('method' in frame) {
    const [kind, own] =
      'id' in frame ? ['JSONRPCRequest', 'ServerRequest'] : ['JSONRPCNotification', 'ServerNotification']
    return [...mistakesBy(kind, frame), ...mistakesBy(own, frame)]
  }
  if ('error' in frame) return mistakesBy(errorOf((frame.error as { code: number }).code), frame)
  const result = frame.result as Frame
  const name = result.resultType === 'input_required' ? 'InputRequiredResult' : resultOf(method)
  return [...mistakesBy(oneOf('JSONRPCResultResponse', 'JSONRPCResponse'), frame), ...mistakesBy(name, result)]
}
