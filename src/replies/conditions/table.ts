/**
 * How conditions are declared and compiled. To add one, add a row to the table of its dialect: `chat/form.ts`,
 * `http/form.ts` or `mcp/form.ts`. A row says how the condition is written (its form, with the sentence for the
 * schema and the docs), and how it is tested (with the sentence for when it does not hold). Rules, the schema, the types
 * and `replies try` follow from the row. Conditions that all dialects share are here.
 */
import * as v from 'valibot'
import { expressionIn } from '../../check/expressions.js'
import { closed, filled, map, optional, text, withJsonSchema, word } from '../../check/forms.js'
import { credentialKinds } from '../../core/exchange.js'
import { holdsCredential } from '../templates.js'
import {
  type Condition,
  equalTo,
  fieldPath,
  type MatchInput,
  nameTest,
  simple,
  type TextCondition,
  textTest,
  type ValueCondition,
  valueTest,
} from './value-tests.js'

type Compiled<I extends MatchInput> = Condition<I> | readonly Condition<I>[]

/** Compiles a condition: what the rule wants, the name of the condition, and what the rule is for. */
type Compile<I extends MatchInput, W> = (wanted: W, name: string, on: string) => Compiled<I>

/** The conditions of a dialect. They are tested in this order: put the cheapest and most selective first. */
type ConditionTable<I extends MatchInput> = Readonly<
  Record<string, { readonly form: v.GenericSchema; readonly compile: Compile<I, never> }>
>

/** A row of a table. */
export const condition = <const S extends v.GenericSchema, I extends MatchInput>(
  form: S,
  meaning: string,
  compile: Compile<I, v.InferOutput<S>>,
) => ({ form: optional(form, meaning), compile })

/** The forms of a table, by the names of its conditions. */
export const formsIn = <const T extends ConditionTable<never>>(table: T) =>
  Object.fromEntries(Object.entries(table).map(([name, { form }]) => [name, form])) as {
    readonly [Name in keyof T]: T[Name]['form']
  }

/** What a rule can write for the conditions of a table. */
export type ConditionsIn<T extends ConditionTable<never>> = {
  readonly [Name in keyof T]?: v.InferOutput<T[Name]['form']>
}

/** What it can write for the shared conditions; `W` is all that it can write. */
export interface SharedWhen<W> {
  readonly header?: Readonly<Record<string, ValueCondition>> | undefined
  readonly caller?:
    | {
        readonly kind?: (typeof credentialKinds)[number] | undefined
        readonly key?: string | undefined
        readonly email?: string | undefined
      }
    | undefined
  readonly fingerprint?: string | undefined
  readonly not?: W | undefined
  readonly allOf?: readonly W[] | undefined
  readonly anyOf?: readonly W[] | undefined
}

/** Why a text that looks like a regular expression is invalid; `undefined` if it is valid. */
const whyInvalid = (written: string): string | undefined => {
  try {
    expressionIn(written)
    return undefined
  } catch (error) {
    // V8 repeats the expression before the actual message.
    const { message } = error as Error
    if (!/^Invalid flags/.test(message)) return message.replace(/^.*: /s, '').toLowerCase()
    const flags = JSON.stringify(written.slice(written.lastIndexOf('/') + 1))
    return `${flags} are not flags; write a text that begins with a slash as { contains: … }`
  }
}

const aText = 'text, or /a regular expression/'
export const patternText = v.pipe(
  v.string(aText),
  v.nonEmpty(aText),
  v.check(
    written => whyInvalid(written) === undefined,
    ({ input }) => `a valid regular expression (${whyInvalid(input)})`,
  ),
)
export const several = <S extends v.GenericSchema>(item: S, what: string) =>
  v.pipe(v.array(item, what), v.nonEmpty(`${what} that is not empty`))

const oneText = v.union(
  [patternText, closed({ exact: text }), closed({ contains: filled })],
  'text, /a regular expression/, { exact: … } or { contains: … }',
)
export const textCondition = v.union(
  [patternText, closed({ exact: text }), closed({ contains: filled }), several(oneText, 'a list of strings')],
  'text, /a regular expression/, { exact: … }, { contains: … } or a list of them',
)

const aNumber = 'a number, or { min: …, max: … }'
export const rangeCondition = v.union(
  [
    v.number(aNumber),
    v.pipe(
      closed({ min: v.optional(v.number('a number')), max: v.optional(v.number('a number')) }),
      v.check(({ min, max }) => min !== undefined || max !== undefined, 'a range with min, max or both'),
      v.check(({ min = -Infinity, max = Infinity }) => min <= max, 'a range whose min is not above its max'),
    ),
  ],
  aNumber,
)

const oneValue = v.union(
  [
    patternText,
    v.number('a number'),
    withJsonSchema(v.bigint('a number'), { type: 'integer' }),
    v.boolean('true or false'),
    v.null('null'),
    closed({ contains: filled }),
    closed({ present: v.boolean('true or false') }),
    rangeCondition,
  ],
  'text, a number, true, false, null, { contains: … }, { present: … } or { min: …, max: … }',
)
export const valueCondition = v.union(
  [oneValue, several(oneValue, 'a list of values')],
  'text, a number, true, false, null, { contains: … }, { present: … }, { min: …, max: … } or a list of them',
)

const isPath = (written: string) => fieldPath(written) !== undefined
export const namedValues = map(v.string(), valueCondition, 'a map of names and values')
export const fieldValues = map(
  v.pipe(v.string(), v.check(isPath, 'a path such as metadata.unit or messages[0].name')),
  valueCondition,
  'a map of fields and values',
)

const callerForm = closed({
  kind: optional(word(credentialKinds), 'The kind of credential.'),
  key: optional(patternText, 'The name of the API key. * matches anything.'),
  email: optional(patternText, 'The email address of the signed-in user. * matches anything.'),
})

const sharedTable = {
  header: condition(
    namedValues,
    'Request headers and their values. * matches anything, and { present: true } any value.',
    onEach(onHeader),
  ),
  caller: condition(callerForm, 'The caller.', onEach(onCaller)),
  fingerprint: condition(
    filled,
    'The request itself: its messages without instructions and ids, the arguments of a call, or the query and body at a path. An answer by hand on the dashboard has it.',
    (wanted: string, name: string) => simple(name, equalTo(wanted), ({ fingerprint }) => fingerprint),
  ),
}

/** The forms of the conditions that all rules share; `all` are those of the dialect. */
export function sharedForms<W>(all: () => v.GenericSchema<W>) {
  const conditions: v.GenericSchema<W> = v.lazy(all)
  return {
    ...formsIn(sharedTable),
    not: optional(conditions, 'Conditions that must not all hold.'),
    allOf: optional(several(conditions, 'a list of conditions'), 'Conditions that must all hold.'),
    anyOf: optional(several(conditions, 'a list of conditions'), 'Conditions of which one must hold.'),
  }
}

/** Compiles the conditions of a rule for `on`. Does not throw for conditions that have passed validation. */
export function compileWhen<I extends MatchInput, W extends SharedWhen<W>>(
  when: W,
  table: ConditionTable<I>,
  on = '',
): readonly Condition<I>[] {
  const { not, allOf = [], anyOf } = when
  const compileInner = (inner: W) => compileWhen(inner, table, on)
  const rows = Object.entries<ConditionTable<I>[string]>({ ...table, ...sharedTable })
  return [
    ...rows.flatMap(([name, { compile }]) => {
      const wanted = when[name as keyof W]
      return wanted === undefined ? [] : compile(wanted as never, name, on)
    }),
    ...(not === undefined ? [] : [onNot(compileInner(not), Object.keys(not))]),
    ...allOf.flatMap(compileInner),
    ...(anyOf === undefined ? [] : [onAnyOf(anyOf.map(compileInner))]),
  ]
}

/** A condition on one value of a request, whatever value a rule wants. */
export const onValue =
  <I extends MatchInput>(valueIn: (input: I) => unknown) =>
  (wanted: ValueCondition, name: string): Condition<I> =>
    simple(name, valueTest(wanted), valueIn)

/** A condition on a text of a request. Templates can use the groups of its regular expression. */
export const onText =
  <I extends MatchInput>(textIn: (input: I) => string) =>
  (wanted: TextCondition, name: string): Condition<I> => {
    const test = textTest(wanted)
    return { ...simple(name, test, textIn), exec: input => test.exec?.(textIn(input)) ?? null }
  }

/** A condition on each of several named values. */
export function onEach<I extends MatchInput, T>(
  compile: (key: string, wanted: T, name: string, on: string) => Condition<I>,
) {
  return (wanted: Readonly<Record<string, T | undefined>>, name: string, on: string): readonly Condition<I>[] =>
    Object.entries(wanted).flatMap(([key, value]) =>
      value === undefined ? [] : [compile(key, value, `${name}.${key}`, on)],
    )
}

/** Header values may be secrets, so the reason quotes only the rule, and for credentials not even the rule. */
function onHeader(name: string, wanted: ValueCondition): Condition {
  const key = name.toLowerCase()
  const test = valueTest(wanted)
  const safeTest = holdsCredential(key) ? { ...test, mismatch: 'is not what the rule requires' } : test
  return simple(`header ${name}`, safeTest, ({ headers }) => headers[key])
}

function onCaller(key: string, wanted: string, name: string): Condition {
  return simple(name, nameTest(wanted), ({ caller }) => {
    if (key === 'kind') return caller.kind
    if (key === 'key') return caller.kind === 'apiKey' ? caller.name : undefined
    return 'email' in caller ? caller.email : undefined
  })
}

const onNot = <I extends MatchInput>(conditions: readonly Condition<I>[], keys: readonly string[]): Condition<I> => ({
  holds: input => !conditions.every(condition => condition.holds(input)),
  mismatch: () => `all conditions in "not" hold (${keys.join(', ')})`,
})

function onAnyOf<I extends MatchInput>(choices: readonly (readonly Condition<I>[])[]): Condition<I> {
  const fits = (input: I) => choices.find(conditions => conditions.every(condition => condition.holds(input)))
  return {
    holds: input => fits(input) !== undefined,
    mismatch: input =>
      `none of anyOf holds: ${choices.map(conditions => conditions.find(condition => !condition.holds(input))?.mismatch(input)).join('; ')}`,
    exec: input => firstGroups(fits(input) ?? [], input),
  }
}

/** The groups of the first regular expression among `conditions` that has found something. */
export function firstGroups<I extends MatchInput>(
  conditions: readonly Condition<I>[],
  input: I,
): RegExpExecArray | null {
  for (const condition of conditions) {
    const found = condition.exec?.(input)
    if (found) return found
  }
  return null
}
