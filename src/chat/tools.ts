/** The fields of a chat completion request for tools, tool choice and JSON. */
import * as v from 'valibot'
import type { Path } from '../check/check.js'
import { filled, maybe, objectOf, open, text, where, word } from '../check/forms.js'

const named = open({ name: filled })

/** Any content. It is neither checked nor copied. */
const anObject = objectOf<object>()

/** Requires, for these types, a part of the object that is named after the type. */
const withPartOfType = <S extends v.GenericSchema<unknown, { readonly type: string }>>(
  schema: S,
  types: readonly string[],
) =>
  types.reduce<v.GenericSchema>(
    (sum, name) =>
      v.pipe(
        sum,
        where<{ readonly type: string; readonly [part: string]: unknown }>(
          name,
          'an object',
          object => object.type !== name || (object[name] !== null && object[name] !== undefined),
        ) as unknown as v.GenericPipeAction,
      ),
    schema,
  ) as S

/** An offered function. In `functions`, the older form of tools, it is not wrapped. */
export const callable = open({
  name: filled,
  description: maybe(text),
  parameters: maybe(v.union([anObject, v.boolean()], 'an object, true or false')),
})

/** A function, a tool that takes text, or a tool that the platform runs itself, of which only the type is read. */
export const tool = withPartOfType(
  open({ type: text, function: maybe(callable), custom: maybe(open({ name: filled, description: maybe(text) })) }),
  ['function', 'custom'],
)

const namedEntries = { type: text, function: maybe(named), custom: maybe(named) }
const namedTool = withPartOfType(open(namedEntries), ['function', 'custom'])
const allowedTools = open({
  mode: word(['auto', 'required']),
  tools: v.array(namedTool, 'an array of tools'),
})

export const toolChoice = v.union(
  [
    text,
    withPartOfType(open({ ...namedEntries, allowed_tools: maybe(allowedTools) }), [
      'function',
      'custom',
      'allowed_tools',
    ]),
  ],
  'a string or an object',
)

export const functionCall = v.union([text, named], 'a string or an object')

export const responseFormat = withPartOfType(
  open({
    type: word(['text', 'json_object', 'json_schema']),
    // Some platforms accept a schema along with the type json_object.
    schema: maybe(anObject),
    json_schema: maybe(open({ name: filled, schema: maybe(anObject), strict: maybe(v.boolean('true or false')) })),
  }),
  ['json_schema'],
)

/** The fields of a request about tools. */
interface Offer {
  readonly tools?: readonly v.InferOutput<typeof tool>[] | null | undefined
  readonly tool_choice?: v.InferOutput<typeof toolChoice> | null | undefined
  readonly functions?: readonly v.InferOutput<typeof callable>[] | null | undefined
  readonly function_call?: v.InferOutput<typeof functionCall> | null | undefined
}

/**
 * What a request allows or demands about tool calls, and the tools that the model may call, if not all. Reads
 * `tool_choice`, and the older `function_call`.
 */
export function demandOf({ tool_choice: choice, function_call: legacy }: Offer): {
  readonly calls: 'allowed' | 'ruled out' | 'required'
  readonly names?: readonly string[]
} {
  if (choice === 'none' || legacy === 'none') return { calls: 'ruled out' }
  if (choice === 'required') return { calls: 'required' }
  if (typeof choice === 'object' && choice !== null) {
    const { mode, tools: allowed } = choice.allowed_tools ?? {}
    const names = (allowed ?? [choice]).flatMap(({ function: fn, custom }) => fn?.name ?? custom?.name ?? [])
    if (names.length > 0) return { calls: mode === 'auto' ? 'allowed' : 'required', names }
  }
  if (typeof legacy === 'object' && legacy !== null) return { calls: 'required', names: [legacy.name] }
  return { calls: 'allowed' }
}

/** Whether a request names one tool that must be called. `allowed_tools` only names those that may be. */
export const namesOneCall = ({ tool_choice: choice, function_call: legacy }: Offer): boolean =>
  isNamed(choice) || isNamed(legacy)

const isNamed = (choice: Offer['tool_choice'] | Offer['function_call']) =>
  typeof choice === 'object' && choice !== null && !('allowed_tools' in choice && choice.allowed_tools)

/** Checks that a tool that must be called is also offered. */
export const callsWhatIsOffered = <R extends Offer>() =>
  v.rawCheck<R>(({ dataset, addIssue }) => {
    if (!dataset.typed || !(dataset.value.tool_choice || dataset.value.function_call)) return
    const [wrong] = [...wrongToolChoice(dataset.value), ...wrongFunctionCall(dataset.value)]
    if (!wrong) return
    const { value, expectation } = wrong
    const path = wrong.path.map(
      key => ({ type: 'unknown', origin: 'value', input: dataset.value, key, value }) as const,
    )
    addIssue({ message: expectation, input: value, path: path as unknown as [v.IssuePathItem] })
  })

interface Wrong {
  readonly path: Path
  readonly value: unknown
  readonly expectation: string
}

function wrongToolChoice({ tools, tool_choice }: Offer): readonly Wrong[] {
  if (!tool_choice) return []
  const offered = tools ?? []
  if (typeof tool_choice === 'string') {
    if (tool_choice === 'none' || tool_choice === 'auto' || (tool_choice === 'required' && offered.length > 0))
      return []
    const expectation = offered.length > 0 ? 'one of none, auto, required' : 'none or auto if no tools are offered'
    return [{ path: ['tool_choice'], value: tool_choice, expectation }]
  }
  const names = new Set(offered.map(tool => nameFor(tool.type, tool)))
  const allowed = tool_choice.type === 'allowed_tools' ? (tool_choice.allowed_tools?.tools ?? []) : []
  return [
    ...notOffered(['tool_choice'], tool_choice, names),
    ...allowed.flatMap((one, i) => notOffered(['tool_choice', 'allowed_tools', 'tools', i], one, names)),
  ]
}

type NamedTool = v.InferOutput<typeof namedTool>

function notOffered(path: Path, { type, ...parts }: NamedTool, offered: ReadonlySet<string>): readonly Wrong[] {
  if ((type !== 'function' && type !== 'custom') || offered.has(nameFor(type, parts))) return []
  const expectation = `the name of a ${type === 'function' ? 'function' : 'custom tool'} that is offered`
  return [{ path: [...path, type, 'name'], value: parts[type]?.name, expectation }]
}

const nameFor = (type: string, { function: fn, custom }: Pick<NamedTool, 'function' | 'custom'>) =>
  `${type} ${(type === 'custom' ? custom : fn)?.name}`

function wrongFunctionCall({ functions, function_call: call }: Offer): readonly Wrong[] {
  if (!call || call === 'none' || call === 'auto') return []
  if (typeof call === 'string')
    return [{ path: ['function_call'], value: call, expectation: 'none, auto or an object with a name' }]
  if (functions?.some(({ name }) => name === call.name)) return []
  return [{ path: ['function_call', 'name'], value: call.name, expectation: 'the name of a function that is offered' }]
}
