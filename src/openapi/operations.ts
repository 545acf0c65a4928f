/** The operations of OpenAPI documents: their paths, their access, and which one a request matches. */
import { type Access, accessBelow, defaultAccess, type OwnPath } from '../core/exchange.js'
import { isObject } from '../core/json.js'
import { documentedPaths, isAuth, isReserved } from '../core/paths.js'
import { createPathTree, type Segment, stepsOfPath } from '../replies/index.js'
import type { Node, OpenApiDocument } from './schemas.js'

/** A document with its options. */
export interface ConfiguredDocument {
  readonly document: OpenApiDocument
  /** Overrides the path of the document's first server. */
  readonly prefix?: string | undefined
  /** Overrides the access that the security schemes imply. */
  readonly access?: Access | undefined
  readonly validate: boolean
  /** Its own file, and the files that it refers to. */
  readonly files: readonly string[]
}

/** One operation of a document. */
export interface DocumentedOperation {
  /** Always the same object. */
  readonly endpoint: OwnPath
  readonly source: ConfiguredDocument
  /** The operation as written in the document. */
  readonly definition: Node
  /** The parameters of the operation and of its path. */
  readonly parameters: readonly Node[]
  /** The path parameters by name; `undefined` if the path does not match. */
  paramsIn(steps: readonly string[]): Readonly<Record<string, string>> | undefined
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

/** All operations of a document, in its order. */
export function operationsOf(source: ConfiguredDocument): readonly DocumentedOperation[] {
  const { document } = source
  const paths = isObject(document.root.paths) ? document.root.paths : {}
  return Object.entries(paths).flatMap(([template, item]) => {
    const pathItem = document.resolve(item)
    if (!isObject(pathItem) || !template.startsWith('/')) return []
    return methods.flatMap(method => {
      const definition = document.resolve(pathItem[method])
      return isObject(definition) ? [operationOf(source, method, template, { pathItem, definition })] : []
    })
  })
}

function operationOf(
  source: ConfiguredDocument,
  method: (typeof methods)[number],
  template: string,
  { pathItem, definition }: { pathItem: Node; definition: Node },
): DocumentedOperation {
  const { document, prefix } = source
  const servers = [definition.servers, pathItem.servers, document.root.servers].find(Array.isArray)
  const path = withoutTrailingSlash(prefix ?? basePathOf(servers?.[0])) + template
  const endpoint: OwnPath = {
    method: method.toUpperCase(),
    path,
    access: source.access ?? accessOf(document, definition, path),
  }
  const pattern = patternOf(path)
  return {
    endpoint,
    source,
    definition,
    parameters: parametersOf(document, pathItem, definition),
    paramsIn: steps => paramsIn(pattern, steps),
  }
}

const withoutTrailingSlash = (path: string) => path.replace(/\/+$/, '')

/** The path of a server's address. Its variables have their default values. */
function basePathOf(server: unknown): string {
  if (!isObject(server) || typeof server.url !== 'string') return ''
  const variables = isObject(server.variables) ? server.variables : {}
  const url = server.url.replace(/\{([^}]*)\}/g, (_whole, name: string) => {
    const variable = variables[name]
    return isObject(variable) ? String(variable.default) : ''
  })
  // Only the path is used, so an invalid host does not matter.
  const path = url.replace(/^(https?:)?\/\/[^/]*/i, '').replace(/[?#].*$/s, '')
  return path === '' || path.startsWith('/') ? path : `/${path}`
}

/** Any security scheme stands for the platform's own credentials. */
function accessOf(document: OpenApiDocument, operation: Node, path: string): Access {
  const security = operation.security ?? document.root.security
  if (!Array.isArray(security)) return defaultAccess(path)
  if (security.length === 0) return accessBelow(path) ?? 'anyone'
  const isOptional = security.some(one => isObject(one) && Object.keys(one).length === 0)
  return isOptional ? 'anyone' : ['apiKey', 'user']
}

/** A parameter of the operation overrides one of its path item. */
function parametersOf(document: OpenApiDocument, ...holders: readonly Node[]): readonly Node[] {
  const found = new Map<string, Node>()
  for (const { parameters } of holders)
    for (const one of Array.isArray(parameters) ? parameters : []) {
      const parameter = document.resolve(one)
      if (isObject(parameter)) found.set(`${parameter.in} ${parameter.name}`, parameter)
    }
  return [...found.values()]
}

/** A step of a path: a text, a parameter, or text with parameters in it such as `{id}:cancel`. */
interface Step extends Segment {
  readonly names: readonly string[]
  /** The texts before, between and after the parameters; absent if the step is just a parameter. */
  readonly texts?: readonly string[]
}

function patternOf(path: string): readonly Step[] {
  return path
    .slice(1)
    .split('/')
    .map(step => {
      const names = [...step.matchAll(/\{([^}]*)\}/g)].map(([, name = '']) => name)
      if (names.length === 0) return { kind: 'literal', text: decodeStep(step), names }
      const only = names.length === 1 && step === `{${names[0]}}`
      if (only) return { kind: 'param', text: names[0] ?? '', names }
      return { kind: 'param', text: step, names, texts: step.split(/\{[^}]*\}/) }
    })
}

const decodeStep = (step: string) => stepsOfPath(`/${step}`)[0] ?? step

function paramsIn(pattern: readonly Step[], steps: readonly string[]): Readonly<Record<string, string>> | undefined {
  const params: [string, string][] = []
  for (const [i, { kind, names, texts }] of pattern.entries()) {
    if (kind === 'literal') continue
    const step = steps[i] ?? ''
    const values = texts ? valuesBetween(texts, step) : [step]
    if (!values) return undefined
    for (const [j, name] of names.entries()) params.push([name, values[j] ?? ''])
  }
  return Object.fromEntries(params)
}

/** The values between the texts of a step, at least one character each. No regular expression, because a client could make it slow. */
function valuesBetween(texts: readonly string[], step: string): readonly string[] | undefined {
  const [first = '', ...others] = texts
  const last = others.pop() ?? ''
  if (!step.startsWith(first)) return undefined
  const values: string[] = []
  let start = first.length
  for (const text of others) {
    const end = step.indexOf(text, start + 1)
    if (end < 0) return undefined
    values.push(step.slice(start, end))
    start = end + text.length
  }
  const end = step.length - last.length
  return end > start && step.endsWith(last) ? [...values, step.slice(start, end)] : undefined
}

/** Looks up paths segment by segment, so that the number of operations does not matter. */
export function createOperationIndex(operations: readonly DocumentedOperation[]) {
  const tree = createPathTree<DocumentedOperation>()
  const all = operations.filter(({ endpoint }) => !isReservedPath(endpoint.path))
  for (const one of all) tree.put({ segments: patternOf(one.endpoint.path) }, one)
  return {
    all,
    /** The operations of a path, one for each method: those of the more specific template first. */
    at(steps: readonly string[]): readonly DocumentedOperation[] {
      const byMethod = new Map<string, DocumentedOperation>()
      for (const one of tree.find(steps)) {
        const current = byMethod.get(one.endpoint.method)
        if (one.paramsIn(steps) && (!current || isMoreSpecific(one, current))) byMethod.set(one.endpoint.method, one)
      }
      return [...byMethod.values()]
    },
  }
}

/** Standin's own paths and the documented endpoints cannot be overridden. */
const isReservedPath = (path: string) => isReserved(path) || isAuth(path) || documentedPaths.includes(path)

/** Whether a template has more text around its parameters than another one that has parameters in the same segments. */
const isMoreSpecific = (one: DocumentedOperation, other: DocumentedOperation) =>
  textIn(one) > textIn(other) && shape(one) === shape(other)
const textIn = ({ endpoint }: DocumentedOperation) => endpoint.path.replace(/\{[^}]*\}/g, '').length
const shape = ({ endpoint }: DocumentedOperation) =>
  endpoint.path
    .split('/')
    .map(step => (step.includes('{') ? '{}' : step))
    .join('/')
