/** The questions that a rule asks the client: which are unanswered, and whether the answers are valid. */
import { UnfitSchema } from '../check/json-schema-form.js'
import { isObject } from '../core/json.js'
import type { McpQuestion, McpRound } from '../replies/index.js'
import { invalidParams, RpcError, rpcCodes } from '../rpc/frames.js'
import { requireValid } from './check-call.js'
import { type Context, isModern } from './context.js'

/** The client's answers, by the name of the question. */
type Answers = Readonly<Record<string, unknown>>

/** The capability that a client needs to answer a question, and the first version that has it. */
const requirements = {
  'elicitation/create': { capability: 'elicitation', since: '2025-06-18' },
  'sampling/createMessage': { capability: 'sampling', since: '2024-11-05' },
  'roots/list': { capability: 'roots', since: '2024-11-05' },
} as const

/** The unanswered questions of the first round that has any. Leaves out questions that the client does not support. */
export function openRound(rounds: readonly McpRound[], answers: Answers, context: Context): McpRound | undefined {
  const canAnswer = ({ method }: McpQuestion) => {
    const { capability, since } = requirements[method]
    return context.client.capabilities.has(capability) && context.version >= since
  }
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
  const missing = [...new Set(Object.values(round).map(({ method }) => requirements[method].capability))]
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
