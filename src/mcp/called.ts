/** Looks up the target of a call among the server's lists, and checks the arguments. */
import { validatorOf } from '../check/json-schema.js'
import { UnfitSchema } from '../check/json-schema-form.js'
import { didYouMean } from '../check/suggest.js'
import type { McpServer } from '../config/mcp-options.js'
import { shortened } from '../core/errors.js'
import { isObject } from '../core/json.js'
import { bounded, remembered, TookTooLong } from '../core/work.js'
import { invalidParams, RpcError, type RpcParams, type RpcRequest, rpcCodes, targetOf } from '../rpc/frames.js'
import { type Context, isModern } from './context.js'
import type { Called } from './results.js'

type Tool = McpServer['tools'][number]
type Prompt = McpServer['prompts'][number]
type Resource = McpServer['resources'][number]

/** A call whose target exists and whose arguments fit. */
export interface CheckedCall extends Called {
  readonly tool?: Tool
  readonly prompt?: Prompt
  readonly resource?: Resource
  readonly arguments: Readonly<Record<string, unknown>>
}

/** Throws an RpcError that names what is wrong. */
export function checkedCall({ method, params = {} }: RpcRequest, context: Context): CheckedCall {
  const name = targetOf(method, params)
  if (name === undefined) throw invalidParams(`${method} needs ${nameField(method)}, a text.`)
  const given = params.arguments ?? {}
  if (!isObject(given)) throw invalidParams('arguments must be an object.')
  const { options } = context.server
  switch (method) {
    case 'tools/call': {
      const tool = named('tool', name, options.tools)
      requireFit(given, tool.inputSchema, 'arguments')
      return { method, name, arguments: given, tool }
    }
    case 'prompts/get': {
      const prompt = checkedPrompt(name, given, options.prompts)
      return { method, name, arguments: given, prompt, description: prompt.description }
    }
    case 'resources/read':
      return { method, arguments: given, ...readable(name, context) }
    default:
      return completable(name, params, options)
  }
}

const nameField = (method: string) =>
  method === 'resources/read' ? 'params.uri' : method === 'completion/complete' ? 'params.ref' : 'params.name'

const named = <T extends { readonly name: string }>(what: string, name: string, all: readonly T[]): T => {
  const found = all.find(one => one.name === name)
  if (found) return found
  const names = all.map(({ name }) => name)
  throw invalidParams(`there is no ${what} called ${JSON.stringify(name)}.${didYouMean(name, names)}`)
}

/** Longer than checking real arguments takes. */
const CHECK_MS = 100

/** Why the schema of a tool cannot be used, so that every call would be refused; `undefined` if it can. */
export function troubleWith({ name, inputSchema }: Pick<Tool, 'name'> & { readonly inputSchema: object }) {
  try {
    validatorOf(inputSchema)
    return undefined
  } catch (error) {
    if (error instanceof UnfitSchema) return `The inputSchema of the tool ${name} cannot be used: ${error.message}.`
    throw error
  }
}

/** Throws an RpcError that names each field that does not fit, and an UnfitSchema for a schema that cannot be used. */
export function requireFit(given: unknown, schema: object, whole: string): void {
  const mistakes = checking(whole, () => validatorOf(schema)(given, { whole }))
  if (mistakes.length === 0) return
  const fields = mistakes.map(({ path, sentence }) => ({ field: shortened(path.join('.')), sentence }))
  throw invalidParams(mistakes.map(({ sentence }) => sentence).join(' '), fields)
}

function checking<T>(what: string, check: () => T): T {
  try {
    return bounded(check, CHECK_MS)
  } catch (error) {
    if (error instanceof TookTooLong) throw invalidParams(`checking the ${what} takes too long.`)
    throw error
  }
}

function checkedPrompt(name: string, given: Readonly<Record<string, unknown>>, prompts: readonly Prompt[]): Prompt {
  const prompt = named('prompt', name, prompts)
  const missing = prompt.arguments?.find(one => one.required && given[one.name] === undefined)
  if (missing) throw invalidParams(`arguments.${missing.name} is missing.`)
  const strange = Object.entries(given).find(([, value]) => typeof value !== 'string')
  if (strange) throw invalidParams(`arguments.${strange[0]} must be a text.`)
  return prompt
}

/** Longer URIs fit no template, so that a session cannot keep them. */
const LONGEST_URI = 2000

/** A resource that is listed, or a URI that fits a template. Throws an RpcError if there is none. */
export function readable(uri: string, context: Context): Pick<CheckedCall, 'name' | 'resource' | 'mimeType'> {
  const { resources, resourceTemplates } = context.server.options
  const resource = resources.find(one => one.uri === uri)
  if (resource) return { name: uri, resource, mimeType: resource.mimeType }
  const fits = ({ uriTemplate }: { readonly uriTemplate: string }) => patternOf(uriTemplate).test(uri)
  const template = uri.length <= LONGEST_URI ? checking('uri', () => resourceTemplates.find(fits)) : undefined
  if (template) return { name: uri, mimeType: template.mimeType }
  const code = isModern(context) ? rpcCodes.invalidParams : rpcCodes.noResource
  const known = resources.map(({ uri }) => uri)
  throw new RpcError(code, `Resource not found: ${uri}.${didYouMean(uri, known)}`, { uri })
}

/** RFC 6570, levels 1 and 2: a variable has at least one character, and contains slashes only if it is written {+path}. */
const patternOf = remembered((template: string) => {
  const parts = template.split(/(\{[^}]*\})/).map(asPattern)
  return new RegExp(`^${parts.join('')}$`)
})

function asPattern(part: string): string {
  if (/^\{[+#]/.test(part)) return '.+'
  if (/^\{\?/.test(part)) return '(?:\\?.*)?'
  return part.startsWith('{') ? '[^/?#]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/** The template or prompt whose argument is to be completed. */
function completable(name: string, params: RpcParams, { prompts, resourceTemplates }: McpServer): CheckedCall {
  const { ref, argument } = params as { readonly ref: { readonly type?: unknown }; readonly argument?: unknown }
  if (!isObject(argument) || typeof argument.name !== 'string' || typeof argument.value !== 'string')
    throw invalidParams('argument needs a name and a value, which are texts.')
  if (ref.type === 'ref/prompt') named('prompt', name, prompts)
  else if (ref.type !== 'ref/resource') throw invalidParams('ref.type must be ref/prompt or ref/resource.')
  else if (!resourceTemplates.some(({ uriTemplate }) => uriTemplate === name))
    throw invalidParams(`there is no resource template ${JSON.stringify(name)}.`)
  return { method: 'completion/complete', name, arguments: { [argument.name]: argument.value } }
}
