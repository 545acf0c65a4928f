/** Faults: how a failure is described in a rule, in the configuration, in a request to the control API and in a header. */
import * as v from 'valibot'
import { closed, described, filled, integer, list, map, numberBetween, optional, readAs, word } from '../check/forms.js'
import { PlatformError } from './errors.js'
import { isObject } from './json.js'

const count = (least: number, what?: string) => integer(least, 1_000_000, what)
const onlyTrue = v.literal(true, 'true')

/** The keys of a fault. A chunk is one event of a stream, including the first one with the role, but not `[DONE]`. */
export const faultEntries = {
  status: optional(integer(400, 599, 'an HTTP status'), 'Answers with this status and an error body instead.'),
  message: optional(filled, 'What the error says.'),
  retryAfter: optional(count(0, 'seconds'), 'The Retry-After header of the error, in seconds.'),
  delayMs: optional(numberBetween(0, 3_600_000, 'milliseconds'), 'Waits before the headers, in milliseconds.'),
  hang: optional(onlyTrue, 'Never answers; the connection stays open until the client disconnects.'),
  reset: optional(
    word(['before', 'mid-body']),
    'Resets the connection: before any byte of the answer, or in the middle of its body.',
  ),
  cut: optional(count(0), 'Closes the connection after this many chunks of a stream.'),
  cutBytes: optional(count(0), 'Closes the connection after this many bytes of the body.'),
  end: optional(
    count(0),
    'Ends a stream normally after this many chunks, and always before its finish_reason and usage; done: missing leaves out the [DONE], too.',
  ),
  stall: optional(count(0), 'Stops sending after this many chunks of a stream.'),
  stallMs: optional(
    numberBetween(0, 3_600_000, 'milliseconds'),
    'How long the silence lasts, in milliseconds; without it, until the client disconnects.',
  ),
  malformed: optional(count(1), 'Breaks the JSON of the chunk with this number, counted from 1.'),
  done: optional(word(['missing', 'double']), 'Omits the [DONE] of a stream, or sends it twice.'),
  interleave: optional(
    onlyTrue,
    'Mixes the fragments of parallel tool calls in a stream; id and name are only in the first fragment of each.',
  ),
  finish: optional(
    word(['length', 'content_filter']),
    'Stops a chat completion in the middle of its text, with this finish_reason.',
  ),
  malformedArguments: optional(onlyTrue, 'Breaks the JSON of the arguments of tool calls.'),
  fail: optional(count(0), 'Sends an error event after this many chunks of a stream and ends it.'),
  truncate: optional(onlyTrue, 'Truncates the JSON of the answer, as if it were complete.'),
  contentType: optional(
    v.pipe(v.string('a string'), v.regex(/^[\x21-\x7e][\x20-\x7e]*$/, 'the value of a Content-Type header')),
    'Sends this Content-Type instead of the correct one.',
  ),
  lostAnswer: optional(
    onlyTrue,
    'Does what the request asks for, then closes the connection without a byte; with hang, stays silent. A later request with the same Idempotency-Key gets the answer.',
  ),
  model: optional(
    word(['loop', 'unknown-tool', 'ten-tools', 'prose', 'empty', 'refusal', 'injection', 'markup']),
    'What a hostile model says instead: asks for the same tool for ever, for one that does not exist, or for ten at once; puts prose around JSON; says nothing; refuses; does what a tool result may have told it; or sends HTML that points to a canary.',
  ),
  session: optional(
    word(['refresh-used', 'revoked', 'banned', 'key-rotated', 'clock-ahead', 'link-used']),
    "What happens at Supabase Auth just before the request: another tab has used up its refresh token; its session is revoked, or its user banned; the key that signed its token is replaced; the server's clock is an hour ahead; its link was opened already.",
  ),
  chance: optional(
    numberBetween(0, 1),
    'The probability, from 0 to 1; drawn from the seed, the request and how often it was sent.',
  ),
} as const

export type FaultKey = keyof typeof faultEntries
type Entries = { readonly [K in FaultKey]?: unknown }

/** Faults that only apply to streams. */
const streamFaults = ['cut', 'end', 'stall', 'malformed', 'done', 'interleave', 'fail'] as const
/** Faults that end an answer early. */
const endingFaults = ['cut', 'end', 'cutBytes', 'fail', 'truncate', 'finish', 'reset', 'lostAnswer'] as const
/** Those of them after which a stream still has its `[DONE]`. */
const endingsWithDone: readonly FaultKey[] = ['truncate', 'end', 'finish']
/** The faults themselves. The other keys only add details. */
export const effects: readonly FaultKey[] = [
  'status',
  'delayMs',
  'hang',
  'contentType',
  'malformedArguments',
  'model',
  'session',
  ...new Set([...streamFaults, ...endingFaults]),
]
/** Keys that are only valid together with one of others. */
export const requiredCompanions: readonly (readonly [FaultKey, readonly FaultKey[]])[] = [
  ['message', ['status', 'fail']],
  ['retryAfter', ['status']],
  ['stallMs', ['stall']],
]

/** Keys that can have no effect because of the other keys: each with the rest of a sentence that says why. */
function* contradictions(fault: Entries): Generator<readonly [FaultKey, string]> {
  const present = (keys: readonly FaultKey[]) => keys.filter(key => fault[key] !== undefined)
  const conflict = (key: FaultKey, other: string) => [key, `is not possible together with ${other}.`] as const
  for (const [key, others] of requiredCompanions) {
    if (fault[key] !== undefined && present(others).length === 0)
      yield [key, `is only for a fault with ${others.join(' or ')}.`]
  }
  for (const key of present(effects)) {
    if (fault.hang && key !== 'hang' && key !== 'lostAnswer') yield conflict(key, 'hang')
    if (fault.reset === 'before' && key !== 'reset' && key !== 'delayMs') yield conflict(key, 'reset: before')
  }
  if (fault.status !== undefined)
    for (const key of present([...streamFaults, 'lostAnswer', 'model', 'session'])) yield conflict(key, 'status')
  const [ending, ...more] = present(endingFaults)
  for (const key of more) yield conflict(key, String(ending))
  if (fault.done !== undefined && ending !== undefined && !endingsWithDone.includes(ending))
    yield conflict('done', ending)
}

/** Requires that a fault has an effect, and that none of its keys is useless. */
const consistent = <F extends Entries>() =>
  v.rawCheck<F>(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    const { value: fault } = dataset
    if (effects.every(key => fault[key] === undefined)) {
      return addIssue({ message: 'is no fault: it must say what goes wrong, such as status or delayMs.' })
    }
    const [first] = contradictions(fault)
    if (!first) return
    const [key, message] = first
    const path: [v.IssuePathItem] = [{ type: 'unknown', origin: 'value', input: fault, key, value: fault[key] }]
    addIssue({ message, input: fault[key], path })
  })

const faultForm = v.pipe(closed(faultEntries), consistent())
export type Fault = v.InferOutput<typeof faultForm>
export type SessionFault = NonNullable<Fault['session']>

/** Names of 0.3, which are accepted until 0.5. */
export interface OldNames {
  /** @deprecated Use `cut`. */
  readonly cutAfterChunks?: number | undefined
  /** @deprecated Use `cutBytes`. */
  readonly cutAfterBytes?: number | undefined
  /** @deprecated Use `end`. */
  readonly endAfterChunks?: number | undefined
  /** @deprecated Use `stall`. */
  readonly stallAfterChunks?: number | undefined
  /** @deprecated Use `malformed`. */
  readonly malformedChunk?: number | undefined
  /** @deprecated Use `fail`. */
  readonly errorAfterChunks?: number | undefined
  /** @deprecated Use `finish`. */
  readonly finishReason?: Fault['finish']
}
export type FaultInput = Fault & OldNames

const oldNames: Readonly<Record<keyof OldNames, FaultKey>> = {
  cutAfterChunks: 'cut',
  cutAfterBytes: 'cutBytes',
  endAfterChunks: 'end',
  stallAfterChunks: 'stall',
  malformedChunk: 'malformed',
  errorAfterChunks: 'fail',
  finishReason: 'finish',
}

/** Old names that the process has been told about. */
const noted = new Set<string>()

function withNewNames(fault: unknown): unknown {
  if (!isObject(fault) || !Object.keys(fault).some(key => Object.hasOwn(oldNames, key))) return fault
  const entries = Object.entries(fault).map(([key, value]) => [noteOldName(key) ?? key, value] as const)
  return Object.fromEntries(entries)
}

/** The new name of an old one, which a warning tells once; `undefined` for any other key. */
function noteOldName(key: string): FaultKey | undefined {
  const name = Object.hasOwn(oldNames, key) ? oldNames[key as keyof OldNames] : undefined
  if (name && !noted.has(key))
    process.emitWarning(`The fault ${key} is called ${name} now. The old name goes with 0.5.`, 'DeprecationWarning')
  noted.add(key)
  return name
}

/** A fault as users write it. */
export const faultSchema: v.GenericSchema<FaultInput, Fault> = readAs(faultForm, withNewNames)

/** The effects that a word can name, alone or with its value: `cut` or `cut-5`, `status-503`, `done-double`. */
const typical = {
  status: { status: 500 },
  hang: { hang: true },
  reset: { reset: 'before' },
  cut: { cut: 3 },
  end: { end: 3 },
  stall: { stall: 3 },
  fail: { fail: 3 },
  malformed: { malformed: 2 },
  done: { done: 'missing' },
  interleave: { interleave: true },
  finish: { finish: 'length' },
  malformedArguments: { malformedArguments: true },
  truncate: { truncate: true },
  lostAnswer: { lostAnswer: true },
  model: { model: 'loop' },
  session: { session: 'revoked' },
} as const satisfies { readonly [K in FaultKey]?: Fault }
export type FaultWord = keyof typeof typical

/** Words of 0.3, which are accepted until 0.5. */
const oldWords: Readonly<Record<string, string>> = {
  'no-done': 'done-missing',
  'error-event': 'fail',
  'double-done': 'done-double',
  'bad-arguments': 'malformedArguments',
  length: 'finish-length',
  filter: 'finish-content_filter',
}

/** The words for effects, each with its usual value and what it does. */
export const faultWords: readonly { readonly word: string; readonly meaning: string; readonly fault: Fault }[] =
  Object.entries(typical).map(([name, fault]: [string, Fault]) => {
    const value = fault[name as FaultKey]
    const meaning = v.getDescription(faultEntries[name as FaultKey].wrapped) ?? ''
    return { word: value === true ? name : `${name}-${value}`, meaning, fault }
  })

/** The word by which a fault is called today: `error-503` was the old one for `status-503`. */
export const currentWord = (word: string): string =>
  (Object.hasOwn(oldWords, word) ? oldWords[word] : undefined) ?? word.replace(/^error-(?=\d)/, 'status-')

/** The fault that a word names: `cut`, `cut-5`, `status-503`; `undefined` if it names none. */
export function faultOfWord(word: string): Fault | undefined {
  const [, name = '', value] = /^([a-zA-Z]+)(?:-(.+))?$/.exec(currentWord(word)) ?? []
  if (!Object.hasOwn(typical, name)) return undefined
  if (value === undefined) return typical[name as FaultWord]
  const fault = { [name]: /^\d+$/.test(value) ? Number(value) : value }
  return v.is(faultForm, fault) ? fault : undefined
}

/** Matched by `glob` of core/paths.ts. */
const pathGlob = v.pipe(v.string('a path'), v.regex(/^[/*]/, 'a path such as /v1/*'))

/** A fault that hits requests at random. */
const randomFaultForm = v.pipe(
  closed({
    ...faultEntries,
    chance: described(numberBetween(0, 1), 'The probability, from 0 to 1.'),
    path: v.optional(described(pathGlob, 'The paths of the requests that can fail; * matches anything.'), '/v1/*'),
  }),
  consistent(),
)
export const randomFaultSchema: v.GenericSchema<v.InferInput<typeof randomFaultForm> & OldNames, RandomFault> = readAs(
  randomFaultForm,
  withNewNames,
)
export type RandomFault = v.InferOutput<typeof randomFaultForm>

const method = word(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** A fault for the next requests, as tests and the control API send it. */
export const faultCallSchema = closed({
  fault: faultSchema,
  times: v.optional(described(count(1), 'How many requests fail.'), 1),
  path: optional(
    pathGlob,
    'The paths of the requests that fail; * matches anything. Without it, all paths of the platform.',
  ),
  method: optional(method, 'The method of the requests that fail; without it, any method.'),
  // Validated by the code that compiles the conditions.
  when: optional(
    map(v.string(), v.unknown(), 'a map of conditions'),
    'Conditions as in rules: only chat completions that match them fail.',
  ),
  scope: optional(v.string('a string'), 'The scope whose requests fail; without it, the requests of all scopes.'),
})
export type FaultCallInput = v.InferInput<typeof faultCallSchema>
export type FaultCall = v.InferOutput<typeof faultCallSchema>

export const randomFaults = list(randomFaultSchema, 'faults')

/** The default message for each status. */
const faultMessages: Readonly<Record<number, string>> = {
  400: 'The request cannot be understood.',
  401: 'The credential is not accepted.',
  402: 'The account has no credit left.',
  403: 'This is not allowed.',
  404: 'Not found.',
  408: 'The request took too long to arrive.',
  409: 'The request conflicts with another one.',
  413: 'The request body is too large.',
  422: 'The request cannot be processed.',
  429: 'Too many requests. Slow down and try again.',
  500: 'Something went wrong on the server.',
  502: 'The server behind this one gave no valid answer.',
  503: 'The service is not available at the moment. Try again later.',
  504: 'The server behind this one did not answer in time.',
  529: 'The service is overloaded. Try again later.',
}

interface MadeError {
  readonly status: number
  readonly message?: string | undefined
  /** In seconds. */
  readonly retryAfter?: number | undefined
}

/** The error that a fault or a hold makes. `code` is the auth backend's code. */
export const madeError = ({ status, message, retryAfter }: MadeError, code: string, hint: string) =>
  new PlatformError(
    status,
    code,
    message ?? faultMessages[status] ?? `The answer is an error with status ${status}.`,
    [
      ...(status === 401 ? ['www-authenticate', 'Bearer'] : []),
      ...(retryAfter === undefined ? [] : ['retry-after', String(retryAfter)]),
    ],
    { hint },
  )
