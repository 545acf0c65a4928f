/** The operations of OpenAPI documents: their paths, their access, and which one a request matches. */
import { type Access, accessBelow, defaultAccess, type OwnPath } from '../core/exchange.js'
import { isObject } from '../core/json.js'
import { isAuth, isReserved } from '../core/paths.js'
import { isDocumentedPath } from '../endpoints/index.js'
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

export interface DocumentedOperation {
  /** Always the same object. */
  readonly endpoint: OwnPath
  readonly source: ConfiguredDocument
  /** The operation as written in the document. */
  readonly definition: Node
  readonly parameters: readonly Node[]
  /** The path parameters by name; `undefined` if the path does not match. */
  paramsIn(steps: readonly string[]): Readonly<Record<string, string>> | undefined
}

const methods = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete', 'trace'] as const

/** All operations of a document, in its order. */
export function operationsOf(source: ConfiguredDocument): readonly DocumentedOperation[] {
  const { document } = source
  const paths = isObject(document.root.paths) ? document.root.paths : {}
  return Object.entries(paths).flatMap(([template, item]) => {
    const pathItem = document.resolve(item)
    if (!isObject(pathItem) || !template.startsWith('/')) return []
    return methods.flatMap((method): DocumentedOperation | readonly DocumentedOperation[] => {
      const definition = document.resolve(pathItem[method])
      if (!isObject(definition)) return []
      const servers = [definition.servers, pathItem.servers, document.root.servers].find(Array.isArray)
      const path = withoutTrailingSlash(source.prefix ?? basePathOf(servers?.[0])) + template
      const pattern = stepsOfTemplate(path)
      const access = source.access ?? accessOf(document, definition, path)
      return {
        endpoint: { method: method.toUpperCase(), path, access },
        source,
        definition,
        parameters: parametersOf(document, pathItem, definition),
        paramsIn: steps => paramsIn(pattern, steps),
      }
    })
  })
}

const withoutTrailingSlash = (path: string) => path.replace(/(?<!\/)\/+$/, '')

/** The path of a server's address. Its variables have their default values. */
function basePathOf(server: unknown): string {
  if (!isObject(server) || typeof server.url !== 'string') return ''
  const variables = isObject(server.variables) ? server.variables : {}
  const url = server.url.replace(/\{([^{}]*)\}/g, (_whole, name: string) => {
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
  /** The texts before, between and after the parameters. */
  readonly around: readonly string[]
}

const stepsOfTemplate = (path: string): readonly Step[] => path.slice(1).split('/').map(stepOf)

function stepOf(step: string): Step {
  const names = [...step.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name)
  const text = names.length === 0 ? (stepsOfPath(`/${step}`)[0] ?? step) : step
  return {
    kind: names.length === 0 ? 'literal' : 'param',
    text,
    names,
    around: step.split(/\{[^{}]*\}/),
  }
}

function paramsIn(pattern: readonly Step[], steps: readonly string[]): Readonly<Record<string, string>> | undefined {
  const params: [string, string][] = []
  for (const [i, { kind, names, around }] of pattern.entries()) {
    if (kind === 'literal') continue
    const found = valuesIn(steps[i] ?? '', around)
    if (!found) return undefined
    params.push(...names.map((name, j): [string, string] => [name, found[j] ?? '']))
  }
  return Object.fromEntries(params)
}

/** The values of the parameters in a step: each is as short as possible, and not empty. */
function valuesIn(step: string, [before = '', ...after]: readonly string[]): readonly string[] | undefined {
  if (!step.startsWith(before)) return undefined
  const values: string[] = []
  let start = before.length
  for (const [i, text] of after.entries()) {
    const end = i < after.length - 1 ? step.indexOf(text, start + 1) : step.length - text.length
    if (end <= start || !step.endsWith(text, end + text.length)) return undefined
    values.push(step.slice(start, end))
    start = end + text.length
  }
  return values
}

/** Looks up paths segment by segment, so that the number of operations does not matter. */
export function createOperationIndex(operations: readonly DocumentedOperation[]) {
  const tree = createPathTree<DocumentedOperation>()
  const all = operations.filter(({ endpoint }) => !isReservedPath(endpoint.path))
  // Of two templates with parameters in the same steps, the one with more text around them comes first.
  for (const one of all.toSorted((a, b) => textLength(b) - textLength(a)))
    tree.put({ segments: stepsOfTemplate(one.endpoint.path) }, one)
  return {
    all,
    /** The operations of a path, one for each method: those of the more specific template first. */
    at(steps: readonly string[]): readonly DocumentedOperation[] {
      const found = new Map<string, DocumentedOperation>()
      for (const one of tree.find(steps)) {
        const { method } = one.endpoint
        if (!found.has(method) && one.paramsIn(steps)) found.set(method, one)
      }
      return [...found.values()]
    },
  }
}

/** Standin's own paths and the documented endpoints cannot be overridden. */
const isReservedPath = (path: string) => isReserved(path) || isAuth(path) || isDocumentedPath(path)

const textLength = ({ endpoint }: DocumentedOperation) => endpoint.path.replace(/\{[^{}]*\}/g, '').length
