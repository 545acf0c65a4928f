/** A reply's questions to the client: which ones are still open, and whether the answers fit. */
import { UnfitSchema } from '../check/json-schema-form.js'
import { isObject } from '../core/json.js'
import type { McpQuestion, McpRound } from '../replies/index.js'
import { invalidParams, RpcError, rpcCodes } from '../rpc/frames.js'
import { requireFit } from './called.js'
import { type Context, isModern } from './context.js'

/** The client's answers, by the name of the question. */
type Answers = Readonly<Record<string, unknown>>

/** What a client declares if it can answer, and the first version that has it. */
const needed = {
  'elicitation/create': { capability: 'elicitation', since: '2025-06-18' },
  'sampling/createMessage': { capability: 'sampling', since: '2024-11-05' },
  'roots/list': { capability: 'roots', since: '2024-11-05' },
} as const

/** The first round with an unanswered question. Only includes questions that the client supports. */
export function openRound(rounds: readonly McpRound[], answers: Answers, context: Context): McpRound | undefined {
  const canAnswer = ({ method }: McpQuestion) => {
    const { capability, since } = needed[method]
    return context.client.capabilities.has(capability) && context.version >= since
  }
  for (const round of rounds) {
    const all = Object.entries(round)
    const can = all.filter(([, question]) => canAnswer(question))
    if (can.length === 0 && all.length > 0) throw missingCapability(round, context)
    const open = can.filter(([name]) => !Object.hasOwn(answers, name))
    if (open.length > 0) return Object.fromEntries(open)
  }
  return undefined
}

function missingCapability(round: McpRound, context: Context): RpcError {
  const missing = [...new Set(Object.values(round).map(({ method }) => needed[method].capability))]
  return new RpcError(
    rpcCodes.missingCapability,
    `The client must declare the capability ${missing.join(' and ')}.`,
    { requiredCapabilities: Object.fromEntries(missing.map(name => [name, {}])) },
    isModern(context) ? 400 : undefined,
  )
}

/** Keeps only answers to the reply's own questions, since clients may send others. */
export function answersInRounds(rounds: readonly McpRound[], answers: Answers): Answers {
  const names = new Set(rounds.flatMap(round => Object.keys(round)))
  return Object.fromEntries(Object.entries(answers).filter(([name]) => names.has(name)))
}

const actions: readonly unknown[] = ['accept', 'decline', 'cancel']

/** Throws an RpcError for an answer to an elicitation that does not fit its form. */
export function requireFittingAnswers(rounds: readonly McpRound[], answers: Answers): void {
  for (const [name, question] of rounds.flatMap(round => Object.entries(round)))
    if (question.method === 'elicitation/create' && Object.hasOwn(answers, name))
      requireElicited(name, question, answers[name])
}

function requireElicited(name: string, { params }: McpQuestion, answer: unknown): void {
  const { action, content } = isObject(answer) ? answer : {}
  const whole = `the answer to ${name}`
  if (!actions.includes(action)) throw invalidParams(`${whole} must have the action accept, decline or cancel.`)
  const schema = params?.requestedSchema
  if (action !== 'accept' || !isObject(schema)) return
  try {
    requireFit(content ?? {}, schema, `content of ${whole}`)
  } catch (error) {
    // A rule may send any schema, even one to test how a client handles it.
    if (!(error instanceof UnfitSchema)) throw error
  }
}
