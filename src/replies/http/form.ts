/** The schema of rules for paths. */
import * as v from 'valibot'
import { closed, described, filled, integer, map, numberBetween, optional, text, word } from '../../check/forms.js'
import { credentialKinds } from '../../core/exchange.js'
import { faultSchema } from '../../core/fault.js'
import {
  type ConditionsIn,
  compileWhen,
  condition,
  fieldValues,
  formsIn,
  namedValues,
  onEach,
  onText,
  type SharedWhen,
  sharedForms,
  textCondition,
} from '../conditions/table.js'
import {
  type Condition,
  fieldAt,
  fieldPath,
  simple,
  type ValueCondition,
  type ValueTest,
  valueTest,
} from '../conditions/value-tests.js'
import { ruleFields, ruleForm } from '../rule-form.js'
import type { HttpInput } from './input.js'
import { isDocumented, paramsIn, routeOf, whyInvalidRoute } from './route.js'

const httpConditions = {
  params: condition(namedValues, 'Path parameters and their values. * matches anything.', onEach(onPathParameter)),
  query: condition(namedValues, 'Query parameters and their values. * matches anything.', onEach(onParameter)),
  body: condition(
    fieldValues,
    'Parts of the body by their path, such as items[0].id, and their values: of JSON, of a form by the names of its fields, of a multipart form by the names of its parts.',
    onEach(onBody),
  ),
  text: condition(
    textCondition,
    'The body as text: a part of it, /a regular expression/flags, { exact: … }, or a list of which one must match.',
    onText(({ text }: HttpInput) => text),
  ),
}

/** The conditions of a rule for a path. */
export type HttpWhen = ConditionsIn<typeof httpConditions> & SharedWhen<HttpWhen>

export const httpWhenSchema: v.GenericSchema<HttpWhen> = closed({
  ...formsIn(httpConditions),
  ...sharedForms(() => httpWhenSchema),
})

/** Compiles the conditions of a rule for a path. */
export const compileHttpWhen = ({ on, when }: HttpRule): readonly Condition<HttpInput>[] =>
  compileWhen(when ?? {}, httpConditions, on)

function onPathParameter(key: string, wanted: ValueCondition, name: string, on: string): Condition<HttpInput> {
  const route = routeOf(on)
  return simple(name, orAsText(valueTest(wanted)), ({ steps }) => paramsIn(route, steps)[key])
}

/** Holds if it does for one of several values, or for a missing one if there are none. */
function onParameter(key: string, wanted: ValueCondition, name: string): Condition<HttpInput> {
  const test = valueTest(wanted)
  const loose = orAsText(test)
  const holds = (values: readonly string[]) => (values.length === 0 ? test.holds(undefined) : values.some(loose.holds))
  return { ...simple(name, test, () => undefined), holds: ({ query }) => holds(query.getAll(key)) }
}

/** Forms have no numbers, only digits as text. */
function onBody(written: string, wanted: ValueCondition, name: string): Condition<HttpInput> {
  const path = fieldPath(written) ?? []
  const test = valueTest(wanted)
  const loose = orAsText(test)
  return {
    ...simple(name, test, () => undefined),
    holds: ({ body, headers }) => (isForm(headers) ? loose : test).holds(fieldAt(body, path)),
  }
}

const isForm = ({ 'content-type': type }: HttpInput['headers']) =>
  type !== undefined && /^\s*(multipart\/form-data|application\/x-www-form-urlencoded)/i.test(type)

/** Also holds for the text of an expected number or boolean. */
const orAsText = (test: ValueTest): ValueTest => ({
  ...test,
  holds: value => test.holds(value) || (typeof value === 'string' && readings(value).some(test.holds)),
})

function readings(text: string): readonly unknown[] {
  if (text === 'true' || text === 'false') return [text === 'true']
  return /^-?\d+(\.\d+)?$/.test(text) ? [Number(text)] : []
}

/** RFC 9110 §5.1. The server itself sets the headers that frame a message. */
const framing = /^(connection|content-length|date|keep-alive|te|trailer|transfer-encoding|upgrade)$/i
const headerName = v.pipe(
  v.string(),
  v.regex(/^[\w!#$%&'*+.^`|~-]+$/, 'the name of a header'),
  v.check(name => !framing.test(name), 'a header that is not about the connection itself'),
)

const event = closed({
  event: optional(filled, 'The type of the event.'),
  data: v.optional(described(v.unknown(), 'Its data: text, or a value that is sent as JSON.'), ''),
  id: optional(text, 'The id of the event.'),
  retry: optional(
    numberBetween(0, 86_400_000, 'milliseconds'),
    'How long a client should wait before it reconnects, in milliseconds.',
  ),
})
/** One event for each item of a list. */
const events = closed({ forEach: filled, as: optional(filled, 'The name of the item in templates.'), item: event })

const bodies = ['json', 'text', 'file', 'events']

const httpReplySchema = v.pipe(
  closed({
    status: optional(integer(200, 599, 'a status'), 'The status of the answer; 200 by default.'),
    headers: optional(
      map(headerName, text, 'a map of headers and strings'),
      'Headers of the answer. Their values may be templates. Without content-type, the type follows from the body.',
    ),
    json: optional(
      v.unknown(),
      'A body of JSON. Keys and texts in it may be templates; a list item { forEach, as, item } is repeated for each item of another list.',
    ),
    text: optional(text, 'A text body. May be a template.'),
    file: optional(
      filled,
      'A file that is the body, relative to the rule file. It is a template if its name ends in .liquid. Its name also decides its type.',
    ),
    events: optional(
      v.array(v.union([event, events], 'an event'), 'a list of events'),
      'Server-sent events, which are streamed at the pace of the rule.',
    ),
    fault: optional(faultSchema, 'What goes wrong with the answer.'),
  }),
  v.check(
    reply => Object.keys(reply).length > 0,
    'is empty. It must have status, json, text, file, events or a fault.',
  ),
  v.check(reply => bodies.filter(key => key in reply).length <= 1, 'has more than one of json, text, file and events.'),
)

const access = v.union(
  [
    v.literal('anyone', 'anyone, or a list of kinds of credential'),
    v.pipe(v.array(word(credentialKinds)), v.minLength(1)),
  ],
  `anyone, or a list of ${credentialKinds.join(', ')}`,
)

const onlyFails = (form: unknown) => Object.keys(form ?? {}).every(key => key === 'fault')

export const httpRuleSchema = v.pipe(
  ruleForm({
    on: described(
      v.pipe(
        v.string('a method and a path'),
        v.check(
          on => whyInvalidRoute(on) === undefined,
          ({ input }) =>
            `is ${JSON.stringify(input)}, which ${whyInvalidRoute(input)}${input.includes('?') ? ': use when.query for it' : ''}. Write one such as "POST /builder/projects/:id".`,
        ),
      ),
      'What the rule answers: a method and a path, such as POST /builder/projects/:id. A segment :name or {name} matches any one segment, and * at the end matches all that follow.',
    ),
    access: optional(
      access,
      'Who may call: anyone, or a list of anon, service, user, apiKey. By default as documented for the prefix of the path, otherwise apiKey and user.',
    ),
    ...ruleFields(httpWhenSchema, httpReplySchema),
  }),
  v.check(
    ({ on, reply, replies }) => !isDocumented(on) || [reply ?? replies ?? []].flat().every(onlyFails),
    ({ input }) =>
      `is for ${(input as { readonly on?: unknown }).on}, whose answer the platform's document defines: it can only set a fault. A rule for chat completions has no on.`,
  ),
)

export type HttpRule = v.InferOutput<typeof httpRuleSchema>
export type HttpReplyForm = v.InferOutput<typeof httpReplySchema>
