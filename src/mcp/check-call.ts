/** Checks a call: its target must be in the server's lists, its arguments and the client's answers to questions must be valid. */
import type { Mistake } from '../check/check.js'
import { TooManySteps, validatorOf } from '../check/json-schema.js'
import { didYouMean } from '../check/suggest.js'
import { UnfitSchema } from '../check/unfit-schema.js'
import { shortened } from '../core/errors.js'
import { isObject } from '../core/json.js'
import { invalidParams, RpcError, type RpcParams, type RpcRequest, rpcCodes, targetOf } from '../core/json-rpc.js'
import { memoized } from '../core/work.js'
import type { McpQuestion, McpRound } from '../replies/index.js'
import type { McpServer } from './options.js'
import type { CallTarget } from './results.js'
import { type Context, isModern } from './sessions.js'

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

/** Where a call names its target, if not in `name`. */
const nameFields: Readonly<Record<string, string>> = { 'resources/read': 'uri', 'completion/complete': 'ref' }

/** Throws an RpcError if the target does not exist or an argument is invalid. */
export function checkCall({ method, params = {} }: RpcRequest, context: Context): CheckedCall {
  const name = targetOf(method, params)
  if (name === undefined) throw invalidParams(`${method} needs params.${nameFields[method] ?? 'name'}, a text.`)
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

const requireNamed = <T extends { readonly name: string }>(what: string, name: string, all: readonly T[]): T => {
  const found = all.find(one => one.name === name)
  if (found) return found
  const names = all.map(({ name }) => name)
  throw invalidParams(`there is no ${what} called ${JSON.stringify(name)}.${didYouMean(name, names)}`)
}

/** Why a schema of a tool cannot be used; `undefined` if it can. */
export function schemaProblem(tool: Pick<Tool, 'name' | 'outputSchema'> & { readonly inputSchema: object }) {
  for (const key of ['inputSchema', 'outputSchema'] as const) {
    try {
      if (tool[key]) validatorOf(tool[key], true)
    } catch (error) {
      if (!(error instanceof UnfitSchema)) throw error
      return { key, sentence: `The ${key} of the tool ${tool.name} cannot be used: ${error.message}.` }
    }
  }
  return undefined
}

/** Throws an RpcError that names each invalid field, and an UnfitSchema for a schema that cannot be used. */
function requireValid(given: unknown, schema: object, whole: string): void {
  let mistakes: readonly Mistake[]
  try {
    mistakes = validatorOf(schema, true)(given, { whole })
  } catch (error) {
    throw error instanceof TooManySteps ? invalidParams(`checking ${whole} takes too long.`) : error
  }
  if (mistakes.length === 0) return
  const data = mistakes.map(({ path, sentence }) => ({ field: shortened(path.join('.')), sentence }))
  throw invalidParams(mistakes.map(({ sentence }) => sentence).join(' '), data)
}

function promptNamed(name: string, given: Readonly<Record<string, unknown>>, prompts: readonly Prompt[]): Prompt {
  const prompt = requireNamed('prompt', name, prompts)
  const missing = prompt.arguments?.find(one => one.required && given[one.name] === undefined)
  if (missing) throw invalidParams(`arguments.${missing.name} is missing.`)
  const invalid = Object.entries(given).find(([, value]) => typeof value !== 'string')
  if (invalid) throw invalidParams(`arguments.${invalid[0]} must be a string.`)
  return prompt
}

/** The listed resource with this URI, or the URI itself if it matches a template. Throws an RpcError for any other URI. */
export function readableResource(uri: string, context: Context): Pick<CheckedCall, 'name' | 'resource' | 'mimeType'> {
  const { resources, resourceTemplates } = context.server.options
  const resource = resources.find(one => one.uri === uri)
  if (resource) return { name: uri, resource, mimeType: resource.mimeType }
  const template = resourceTemplates.find(({ uriTemplate }) => uriPattern(uriTemplate).test(uri))
  if (template) return { name: uri, mimeType: template.mimeType }
  const code = isModern(context) ? rpcCodes.invalidParams : rpcCodes.noResource
  const known = resources.map(({ uri }) => uri)
  throw new RpcError(code, `Resource not found: ${uri}.${didYouMean(uri, known)}`, { uri })
}

/** RFC 6570, levels 1 and 2: a variable has at least one character, and contains slashes only if it is written {+path}. */
const uriPattern = memoized((uriTemplate: string) => {
  let groups = 0
  const [start = '', ...parts] = uriTemplate.split(/(?=\{[^{}]*\})/)
  const pattern = parts.map(part => {
    const end = part.indexOf('}') + 1
    const [variable, rest] = [part.slice(0, end), literally(part.slice(end))]
    if (variable.startsWith('{?')) return `(?:\\?.*)?${rest}`
    // Takes the first place where the rest follows, and tries no other: backtracking could take years.
    const values = /^\{[+#]/.test(variable) ? '.' : '[^/?#]'
    return `(?=(${values}+?${rest === '' ? '$' : rest}))\\${++groups}`
  })
  return new RegExp(`^${literally(start)}${pattern.join('')}$`, 's')
})

const literally = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')

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

/** The client's answers, by the name of the question. */
type Answers = Readonly<Record<string, unknown>>

/** The capability that a client needs to answer a question. */
const capabilityFor = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
} as const

/** The unanswered questions of the first round that has any. Leaves out questions that the client does not support. */
export function openRound(rounds: readonly McpRound[], answers: Answers, context: Context): McpRound | undefined {
  // Versions before 2025-06-18 have no elicitation, whatever a client declares.
  const canAnswer = ({ method }: McpQuestion) =>
    context.client.capabilities.has(capabilityFor[method]) &&
    (method !== 'elicitation/create' || context.version >= '2025-06-18')
  for (const round of rounds) {
    const all = Object.entries(round)
    const supported = all.filter(([, question]) => canAnswer(question))
    if (supported.length === 0 && all.length > 0) throw missingCapability(round, context)
    const unanswered = supported.filter(([name]) => !Object.hasOwn(answers, name))
    if (unanswered.length > 0) return Object.fromEntries(unanswered)
  }
  return undefined
}

function missingCapability(round: McpRound, context: Context): RpcError {
  const missing = [...new Set(Object.values(round).map(({ method }) => capabilityFor[method]))]
  return new RpcError(
    rpcCodes.missingCapability,
    `The client must declare the capability ${missing.join(' and ')}.`,
    { requiredCapabilities: Object.fromEntries(missing.map(name => [name, {}])) },
    isModern(context) ? 400 : undefined,
  )
}

/** Keeps only the answers to questions of the rule, because clients may send others. */
export function answersInRounds(rounds: readonly McpRound[], answers: Answers): Answers {
  const names = new Set(rounds.flatMap(round => Object.keys(round)))
  return Object.fromEntries(Object.entries(answers).filter(([name]) => names.has(name)))
}

const actions: readonly unknown[] = ['accept', 'decline', 'cancel']

/** Throws an RpcError for an answer to an elicitation that does not match its schema. */
export function requireValidAnswers(rounds: readonly McpRound[], answers: Answers): void {
  for (const [name, question] of rounds.flatMap(round => Object.entries(round)))
    if (question.method === 'elicitation/create' && Object.hasOwn(answers, name))
      requireValidElicitation(name, question, answers[name])
}

function requireValidElicitation(name: string, { params }: McpQuestion, answer: unknown): void {
  const { action, content } = isObject(answer) ? answer : {}
  const whole = `the answer to ${name}`
  if (!actions.includes(action)) throw invalidParams(`${whole} must have the action accept, decline or cancel.`)
  const schema = params?.requestedSchema
  if (action !== 'accept' || !isObject(schema)) return
  try {
    requireValid(content ?? {}, schema, `content of ${whole}`)
  } catch (error) {
    // A rule may send any schema, even one to test how a client handles it.
    if (!(error instanceof UnfitSchema)) throw error
  }
}
