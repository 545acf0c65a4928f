/** The schema of rules for MCP calls. */
import * as v from 'valibot'
import { closed, described, filled, map, open, optional, text, word } from '../../check/forms.js'
import { faultSchema } from '../../core/fault.js'
import { logLevels } from '../../core/json-rpc.js'
import {
  type ConditionsIn,
  compileWhen,
  condition,
  fieldValues,
  formsIn,
  namedValues,
  onEach,
  onValue,
  type SharedWhen,
  sharedForms,
  valueCondition,
} from '../conditions/table.js'
import {
  type Condition,
  fieldAt,
  fieldPath,
  nameTest,
  simple,
  type ValueCondition,
  valueTest,
} from '../conditions/value-tests.js'
import { ruleFields, ruleForm } from '../rule-form.js'
import { isNamed, type McpInput, mcpTarget, whyInvalidTarget } from './call.js'

const mcpConditions = {
  arguments: condition(
    fieldValues,
    'Arguments of the call by their path, such as city or items[0].id, and their values.',
    onEach(onFieldOf(input => input.arguments)),
  ),
  answers: condition(
    namedValues,
    "The client's answers to the questions of the reply, by the name of the question.",
    onEach(onFieldOf(({ call }) => call.answers)),
  ),
  server: condition(
    valueCondition,
    'The path of the server, such as /mcp.',
    onValue(({ call }: McpInput) => call.server),
  ),
  client: condition(
    valueCondition,
    'The name of the client. * matches anything.',
    onValue(({ call }: McpInput) => call.client),
  ),
  version: condition(
    valueCondition,
    'The version of the protocol, such as 2025-11-25.',
    onValue(({ call }: McpInput) => call.version),
  ),
}

export type McpWhen = ConditionsIn<typeof mcpConditions> & SharedWhen<McpWhen>

export const mcpWhenSchema: v.GenericSchema<McpWhen> = closed({
  ...formsIn(mcpConditions),
  ...sharedForms(() => mcpWhenSchema),
})

/** Compiles the conditions of a rule for calls. */
export const mcpConditionsOf = ({ on, when }: Pick<McpRule, 'on' | 'when'>): readonly Condition<McpInput>[] => [
  onTarget(on),
  ...compileWhen(when ?? {}, mcpConditions),
]

/** The target counts as a condition too, so that a near miss can name it. */
function onTarget(on: string): Condition<McpInput> {
  const target = mcpTarget(on)
  const test = nameTest(target.name)
  return {
    holds: ({ method, name }) => method === target.method && test.holds(name),
    mismatch: () => `it is for ${on}`,
  }
}

function onFieldOf(valueIn: (input: McpInput) => unknown) {
  return (written: string, wanted: ValueCondition, name: string) => {
    const path = fieldPath(written) ?? []
    return simple<McpInput>(name, valueTest(wanted), input => fieldAt(valueIn(input), path))
  }
}

const object = open({})
const objects = v.array(object, 'a list of objects')

const progress = closed({
  message: optional(text, 'What is being done.'),
  progress: optional(v.number('a number'), 'The progress so far. Defaults to the number of the step.'),
  total: optional(v.number('a number'), 'The total. Defaults to the number of steps.'),
})

const logLine = closed({
  level: optional(word(logLevels), 'The severity. Defaults to info.'),
  logger: optional(text, 'The name of the logger.'),
  data: described(v.unknown(), 'The message: a string or any other value.'),
})

const question = v.pipe(
  closed({
    elicitation: optional(object, 'Asks the user: message and requestedSchema, as in elicitation/create.'),
    sampling: optional(object, 'Asks the model: messages and maxTokens, as in sampling/createMessage.'),
    roots: optional(object, 'Asks for the roots of the client; {} is enough.'),
  }),
  v.check(one => Object.keys(one).length === 1, 'one of elicitation, sampling and roots'),
)
const questions = map(filled, question, 'a map from names to questions')

const changes = ['tools', 'resources', 'prompts'] as const

/** Faults that only this protocol has. */
const protocolFaults = [
  'wrong-id',
  'malformed-json',
  'cut-stream',
  'session-lost',
  'version-refused',
  'unauthorized',
  'insufficient-scope',
] as const
export type ProtocolFault = (typeof protocolFaults)[number]

const resultFields: Readonly<Record<string, readonly string[]>> = {
  'tools/call': ['text', 'content', 'structuredContent', 'isError'],
  'resources/read': ['text', 'blob', 'file', 'mimeType', 'contents'],
  'prompts/get': ['text', 'messages', 'description'],
  'completion/complete': ['values', 'total', 'hasMore'],
}
const failureFields = ['error', 'fault', 'protocolFault']
const sharedFields = ['progress', 'log', 'ask', 'changed', 'updated', '_meta']

const fieldsOf = (method: string) =>
  isNamed(method) ? [...(resultFields[method] ?? []), ...sharedFields, ...failureFields] : failureFields

const mcpReplySchema = v.pipe(
  closed({
    text: optional(text, 'The result as text: of a tool, of a resource, or the one message of a prompt.'),
    content: optional(objects, 'The result of a tool: texts, images, audio, resources and links to resources.'),
    structuredContent: optional(
      v.unknown(),
      'The result of a tool as a value. It is sent as text as well, unless there is text or content.',
    ),
    isError: optional(v.boolean('true or false'), 'Whether the tool has failed.'),
    blob: optional(text, 'The content of a resource in base64.'),
    file: optional(filled, 'A file with the content of a resource, relative to the rule file.'),
    mimeType: optional(filled, 'The media type of that content.'),
    contents: optional(objects, 'The contents of a resource, each with its uri.'),
    messages: optional(objects, 'The messages of a prompt, each with role and content.'),
    description: optional(text, 'What the prompt is for.'),
    values: optional(v.array(text, 'a list of strings'), 'Values that complete an argument.'),
    total: optional(v.number('a number'), 'How many values there are.'),
    hasMore: optional(v.boolean('true or false'), 'Whether there are more values.'),
    progress: optional(
      v.array(progress, 'a list of steps'),
      'Steps that are reported before the result if the client asks for progress.',
    ),
    log: optional(v.array(logLine, 'a list of log lines'), 'Log lines that are sent before the result.'),
    ask: optional(
      v.union([v.array(questions, 'a list of rounds'), questions], 'a map from names to questions, or a list of them'),
      'Questions to the client before the result; a list asks in rounds. Templates can use the answers as answers.',
    ),
    changed: optional(v.array(word(changes), 'a list'), 'Lists whose changes are announced on open streams.'),
    updated: optional(v.array(text, 'a list of URIs'), 'Resources whose changes are announced to subscribers.'),
    _meta: optional(object, 'Further information with the result.'),
    error: optional(
      closed({
        code: described(v.pipe(v.number('a number'), v.integer('a whole number')), 'The code, such as -32602.'),
        message: described(text, 'The message.'),
        data: optional(v.unknown(), 'Further information.'),
      }),
      'A JSON-RPC error instead of a result.',
    ),
    protocolFault: optional(word(protocolFaults), 'What goes wrong with the protocol.'),
    fault: optional(faultSchema, 'What goes wrong with the answer.'),
  }),
  v.check(reply => Object.keys(reply).length > 0, 'is empty. It must have a result, an error or a fault.'),
)

interface ReplyFields {
  readonly on: string
  readonly reply?: object | undefined
  readonly replies?: readonly object[] | undefined
}

/** The first field that does not suit such a call. */
function unsuitableField({ on, reply, replies }: ReplyFields): string | undefined {
  const known = fieldsOf(mcpTarget(on).method)
  return [reply ?? replies ?? []]
    .flat()
    .flatMap(form => Object.keys(form))
    .find(key => !known.includes(key))
}

export const mcpRuleSchema = v.pipe(
  ruleForm({
    on: described(
      v.pipe(
        v.string('a method and a name'),
        v.check(
          on => whyInvalidTarget(on) === undefined,
          ({ input }) =>
            `is ${JSON.stringify(input)}, which ${whyInvalidTarget(input)} Write one such as "tools/call get_weather".`,
        ),
      ),
      'What the rule answers: a method and what it names, such as tools/call get_weather, resources/read file:///readme, prompts/get greet or completion/complete greet. * matches anything.',
    ),
    ...ruleFields(mcpWhenSchema, mcpReplySchema),
  }),
  v.check(
    rule => unsuitableField(rule) === undefined,
    ({ input }) => {
      const rule = input as unknown as ReplyFields
      const known = fieldsOf(mcpTarget(rule.on).method)
      return `has ${unsuitableField(rule)}, which an answer to ${mcpTarget(rule.on).method} cannot have. It can have ${known.join(', ')}.`
    },
  ),
)

export type McpRule = v.InferOutput<typeof mcpRuleSchema>
export type McpReplyForm = v.InferOutput<typeof mcpReplySchema>
