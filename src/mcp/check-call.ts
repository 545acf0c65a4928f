/** Finds the target of a call in the server's lists, and checks the arguments. */
import type { Mistake } from '../check/check.js'
import { TooManySteps, validatorOf } from '../check/json-schema.js'
import { UnfitSchema } from '../check/json-schema-form.js'
import { didYouMean } from '../check/suggest.js'
import type { McpServer } from '../config/mcp-options.js'
import { shortened } from '../core/errors.js'
import { isObject } from '../core/json.js'
import { memoized } from '../core/work.js'
import { invalidParams, RpcError, type RpcParams, type RpcRequest, rpcCodes, targetOf } from '../rpc/frames.js'
import { type Context, isModern } from './context.js'
import type { CallTarget } from './results.js'

type Tool = McpServer['tools'][number]
type Prompt = McpServer['prompts'][number]
type Resource = McpServer['resources'][number]

/** A call whose target exists and whose arguments are valid. */
export interface CheckedCall extends CallTarget {
  readonly tool?: Tool
  readonly prompt?: Prompt
  readonly resource?: Resource
  readonly arguments: Readonly<Record<string, unknown>>
}

/** Throws an RpcError if the target does not exist or an argument is invalid. */
export function checkCall({ method, params = {} }: RpcRequest, context: Context): CheckedCall {
  const name = targetOf(method, params)
  if (name === undefined) throw invalidParams(`${method} needs ${nameField(method)}, a text.`)
  const args = params.arguments ?? {}
  if (!isObject(args)) throw invalidParams('arguments must be an object.')
  const { options } = context.server
  switch (method) {
    case 'tools/call': {
      const tool = requireNamed('tool', name, options.tools)
      requireValid(args, tool.inputSchema, 'arguments')
      return { method, name, arguments: args, tool }
    }
    case 'prompts/get': {
      const prompt = promptNamed(name, args, options.prompts)
      return { method, name, arguments: args, prompt, description: prompt.description }
    }
    case 'resources/read':
      return { method, arguments: args, ...readableResource(name, context) }
    default:
      return completionTarget(name, params, options)
  }
}

const nameField = (method: string) =>
  method === 'resources/read' ? 'params.uri' : method === 'completion/complete' ? 'params.ref' : 'params.name'

const requireNamed = <T extends { readonly name: string }>(what: string, name: string, all: readonly T[]): T => {
  const found = all.find(one => one.name === name)
  if (found) return found
  const names = all.map(({ name }) => name)
  throw invalidParams(`there is no ${what} called ${JSON.stringify(name)}.${didYouMean(name, names)}`)
}

/** Why the input schema of a tool cannot be used; `undefined` if it can. */
export function schemaProblem({ name, inputSchema }: Pick<Tool, 'name'> & { readonly inputSchema: object }) {
  try {
    validatorOf(inputSchema)
    return undefined
  } catch (error) {
    if (error instanceof UnfitSchema) return `The inputSchema of the tool ${name} cannot be used: ${error.message}.`
    throw error
  }
}

/** Throws an RpcError that names each invalid field, and an UnfitSchema for a schema that cannot be used. */
export function requireValid(given: unknown, schema: object, whole: string): void {
  const mistakes = mistakesOf(given, schema, whole)
  if (mistakes.length === 0) return
  const fields = mistakes.map(({ path, sentence }) => ({ field: shortened(path.join('.')), sentence }))
  throw invalidParams(mistakes.map(({ sentence }) => sentence).join(' '), fields)
}

function mistakesOf(given: unknown, schema: object, whole: string): readonly Mistake[] {
  try {
    return validatorOf(schema)(given, { whole })
  } catch (error) {
    if (error instanceof TooManySteps) throw invalidParams(`checking ${whole} takes too long.`)
    throw error
  }
}

function promptNamed(name: string, given: Readonly<Record<string, unknown>>, prompts: readonly Prompt[]): Prompt {
  const prompt = requireNamed('prompt', name, prompts)
  const missing = prompt.arguments?.find(one => one.required && given[one.name] === undefined)
  if (missing) throw invalidParams(`arguments.${missing.name} is missing.`)
  const invalid = Object.entries(given).find(([, value]) => typeof value !== 'string')
  if (invalid) throw invalidParams(`arguments.${invalid[0]} must be a string.`)
  return prompt
}

/** Longer URIs match no template, so that subscriptions to them cannot fill the memory. */
const LONGEST_URI = 2000

/** The listed resource with this URI, or the URI itself if it matches a template. Throws an RpcError for any other URI. */
export function readableResource(uri: string, context: Context): Pick<CheckedCall, 'name' | 'resource' | 'mimeType'> {
  const { resources, resourceTemplates } = context.server.options
  const resource = resources.find(one => one.uri === uri)
  if (resource) return { name: uri, resource, mimeType: resource.mimeType }
  const matches = ({ uriTemplate }: { readonly uriTemplate: string }) => matchesTemplate(uri, uriTemplate)
  const template = uri.length <= LONGEST_URI ? resourceTemplates.find(matches) : undefined
  if (template) return { name: uri, mimeType: template.mimeType }
  const code = isModern(context) ? rpcCodes.invalidParams : rpcCodes.noResource
  const known = resources.map(({ uri }) => uri)
  throw new RpcError(code, `Resource not found: ${uri}.${didYouMean(uri, known)}`, { uri })
}

/**
 * RFC 6570, levels 1 and 2: a variable has at least one character, and contains slashes only if it is written {+path}.
 * Takes time in proportion to the lengths of both, whatever a client sends: an expression with several variables would not.
 */
function matchesTemplate(uri: string, template: string): boolean {
  if (/[\n\r\u2028\u2029]/.test(uri)) return false
  /** Where the parts so far can end: one flag for each place in the URI. */
  let ends = Array.from({ length: uri.length + 1 }, (_empty, at) => at === 0)
  for (const part of partsOf(template)) ends = endsAfter(part, uri, ends)
  return ends[uri.length] === true
}

const partsOf = memoized((template: string) => template.split(/(\{[^}]*\})/).filter(part => part !== ''))

function endsAfter(part: string, uri: string, begins: readonly boolean[]): boolean[] {
  if (!part.startsWith('{'))
    return begins.map((_begins, end) => begins[end - part.length] === true && uri.startsWith(part, end - part.length))
  const isQuery = part.startsWith('{?')
  const takesAll = isQuery || /^\{[+#]/.test(part)
  let isInside = false
  return begins.map((_begins, end) => {
    const before = uri[end - 1] ?? ''
    const canBegin = begins[end - 1] === true && (!isQuery || before === '?')
    isInside = (isInside || canBegin) && (takesAll || !'/?#'.includes(before))
    return isInside || (isQuery && begins[end] === true)
  })
}

/** The template or prompt whose argument is to be completed. */
function completionTarget(name: string, params: RpcParams, { prompts, resourceTemplates }: McpServer): CheckedCall {
  const { ref, argument } = params as { readonly ref: { readonly type?: unknown }; readonly argument?: unknown }
  if (!isObject(argument) || typeof argument.name !== 'string' || typeof argument.value !== 'string')
    throw invalidParams('argument needs a name and a value, which are texts.')
  if (ref.type === 'ref/prompt') requireNamed('prompt', name, prompts)
  else if (ref.type !== 'ref/resource') throw invalidParams('ref.type must be ref/prompt or ref/resource.')
  else if (!resourceTemplates.some(({ uriTemplate }) => uriTemplate === name))
    throw invalidParams(`there is no resource template ${JSON.stringify(name)}.`)
  return { method: 'completion/complete', name, arguments: { [argument.name]: argument.value } }
}
