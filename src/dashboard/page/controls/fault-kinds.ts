/** What can go wrong, as a form asks for it. */

export interface FaultField {
  /** Its key in the fault. */
  readonly key: string
  readonly label: string
  readonly initial: string
  /** Text where nothing is said. */
  readonly type?: 'number'
  readonly choices?: readonly (readonly [value: string, words: string])[]
  /** Whether it may be left out. */
  readonly isOptional?: true
}

export interface FaultKind {
  readonly name: string
  readonly does: string
  readonly fields: readonly FaultField[]
  /** What is always in it. */
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

/** What a form says, as the fault that the control API takes. */
export function faultFrom(kind: FaultKind, values: Readonly<Record<string, string>>): object {
  const filled = kind.fields.flatMap(({ key, initial, type }) => {
    const value = (values[key] ?? initial).trim()
    if (value === '') return []
    return [[key, type === 'number' ? Number(value) : value] as const]
  })
  return { ...kind.fault, ...Object.fromEntries(filled) }
}
