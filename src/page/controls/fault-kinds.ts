/** The kinds of fault: the form fields and the wording of each. */
import type { Fault } from '../../core/fault.js'

interface FaultField {
  /** The key in the fault object. */
  readonly key: string
  readonly label: string
  readonly initial: string
  /** Text if absent. */
  readonly type?: 'number'
  readonly choices?: readonly (readonly [value: string, words: string])[]
  /** Whether the field may be left empty. */
  readonly isOptional?: true
}

interface FaultKind {
  readonly name: string
  readonly does: string
  readonly fields: readonly FaultField[]
  /** Parts that the fault always has. */
  readonly fault?: object
}

const number = (key: string, label: string, initial: string): FaultField => ({ key, label, initial, type: 'number' })
const maybe = (field: FaultField): FaultField => ({ ...field, initial: '', isOptional: true })
const message: FaultField = { key: 'message', label: 'Sentence', initial: '', isOptional: true }
const delay = number('delayMs', 'Wait before it (ms)', '3000')

const delayable = (kind: FaultKind): FaultKind => ({ ...kind, fields: [...kind.fields, maybe(delay)] })

export const faultKinds: readonly FaultKind[] = [
  delayable({
    name: 'Answer with an error',
    does: 'An error body in place of the answer.',
    fields: [number('status', 'Status', '503'), message, maybe(number('retryAfter', 'Retry-After (s)', ''))],
  }),
  { name: 'Answer late', does: 'Nothing comes for a while, then the answer.', fields: [delay] },
  {
    name: 'Never answer',
    does: 'The connection stays open until the client leaves.',
    fields: [],
    fault: { hang: true },
  },
  delayable({
    name: 'Reset the connection',
    does: 'As if a machine on the way had died.',
    fields: [
      {
        key: 'reset',
        label: 'When',
        initial: 'before',
        choices: [
          ['before', 'before any byte of the answer'],
          ['mid-body', 'in the middle of the body'],
        ],
      },
    ],
  }),
  delayable({
    name: 'Cut the stream',
    does: 'The connection closes after some chunks.',
    fields: [number('cutAfterChunks', 'Chunks before that', '3')],
  }),
  delayable({
    name: 'Cut the body',
    does: 'The connection closes after some bytes.',
    fields: [number('cutAfterBytes', 'Bytes before that', '100')],
  }),
  delayable({
    name: 'Fall silent in the stream',
    does: 'Some chunks come, then nothing for a while.',
    fields: [number('stallAfterChunks', 'Chunks before that', '3'), maybe(number('stallMs', 'Silence (ms)', ''))],
  }),
  delayable({
    name: 'Send an error in the stream',
    does: 'Some chunks come, then an error event, and the end.',
    fields: [number('errorAfterChunks', 'Chunks before that', '3'), message],
  }),
  delayable({
    name: 'Break a chunk',
    does: 'The JSON of one chunk cannot be parsed.',
    fields: [number('malformedChunk', 'Which chunk', '2')],
  }),
  delayable({
    name: 'Spoil the end of the stream',
    does: 'The [DONE] at the end is not as it should be.',
    fields: [
      {
        key: 'done',
        label: '[DONE]',
        initial: 'missing',
        choices: [
          ['missing', 'is missing'],
          ['double', 'comes twice'],
        ],
      },
    ],
  }),
  delayable({
    name: 'Truncate the JSON',
    does: 'It ends in its middle, as if that were all.',
    fields: [],
    fault: { truncate: true },
  }),
  delayable({
    name: 'Say a wrong Content-Type',
    does: 'The answer is right, its header is not.',
    fields: [{ key: 'contentType', label: 'Content-Type', initial: 'text/html' }],
  }),
]

/** Turns the form's values into a fault for the control API. */
export function faultFrom(kind: FaultKind, values: Readonly<Record<string, string>>): object {
  const filled = kind.fields.flatMap(({ key, initial, type }) => {
    const value = (values[key] ?? initial).trim()
    if (value === '') return []
    return [[key, type === 'number' ? Number(value) : value] as const]
  })
  return { ...kind.fault, ...Object.fromEntries(filled) }
}

const chunks = (count: number) => (count === 1 ? '1 chunk' : `${count} chunks`)
const seconds = (ms: number) => `${ms / 1000} s`

/** In the order in which they affect a request. */
function* effects(fault: Fault): Generator<string> {
  const { status, message, retryAfter, delayMs, stallAfterChunks, stallMs, errorAfterChunks } = fault
  if (delayMs !== undefined) yield `waits ${seconds(delayMs)}`
  if (fault.hang) yield 'never answers'
  if (fault.reset === 'before') yield 'resets the connection before the answer'
  if (status !== undefined) yield `answers ${status}`
  if (retryAfter !== undefined) yield `says Retry-After ${retryAfter} s`
  if (fault.contentType !== undefined) yield `says Content-Type ${fault.contentType}`
  if (fault.malformedChunk !== undefined) yield `breaks chunk ${fault.malformedChunk}`
  if (stallAfterChunks !== undefined) {
    yield `falls silent after ${chunks(stallAfterChunks)}${stallMs === undefined ? '' : ` for ${seconds(stallMs)}`}`
  }
  if (errorAfterChunks !== undefined) yield `sends an error after ${chunks(errorAfterChunks)}`
  if (fault.cutAfterChunks !== undefined) yield `cuts the stream after ${chunks(fault.cutAfterChunks)}`
  if (fault.cutAfterBytes !== undefined) yield `cuts the body after ${fault.cutAfterBytes} bytes`
  if (fault.reset === 'mid-body') yield 'resets the connection in the middle'
  if (fault.truncate) yield 'truncates the JSON'
  if (fault.done === 'missing') yield 'leaves out [DONE]'
  if (fault.done === 'double') yield 'sends [DONE] twice'
  if (message !== undefined) yield `says “${message}”`
}

/** `Waits 3 s, answers 503`. */
export function faultInWords(fault: Fault): string {
  const words = [...effects(fault)].join(', ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

interface Meant {
  readonly method?: string | undefined
  readonly path?: string | undefined
  readonly scope?: string | undefined
  readonly when?: Readonly<Record<string, unknown>> | undefined
}

/** Which requests a fault applies to: `POST /v1/*, model gpt-4o`. */
export function meantInWords({ method, path, scope, when = {} }: Meant): string {
  const { model, user, ...more } = when
  const parts = [
    [method, path].filter(Boolean).join(' ') || (Object.keys(when).length > 0 ? 'chat completions' : 'any endpoint'),
    ...(model === undefined ? [] : [`model ${textOf(model)}`]),
    ...(user === undefined ? [] : [`user says ${textOf(user)}`]),
    ...(Object.keys(more).length > 0 ? [JSON.stringify(more)] : []),
    ...(scope ? [`scope ${scope}`] : []),
  ]
  return parts.join(', ')
}

function textOf(condition: unknown): string {
  if (typeof condition === 'string') return condition
  const { contains } = (condition ?? {}) as { readonly contains?: unknown }
  return typeof contains === 'string' ? `“${contains}”` : JSON.stringify(condition)
}
