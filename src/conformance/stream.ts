/** Judges the events of a streamed chat completion: each by itself, and all of them together. */
import { chunkAnswer, errorEventAnswer } from '../core/answers.js'
import { createEventSplitter, dataOf } from '../core/events.js'
import type { Violation } from '../core/violation.js'
import type { Answered } from './answered.js'
import { barely, decided, wrongIn } from './found.js'

/** As much of a chunk as is compared with others. */
interface Chunk {
  readonly id?: unknown
  readonly choices?: readonly { readonly index?: unknown; readonly finish_reason?: unknown }[]
  readonly usage?: unknown
}

/** So many violations of one stream are told. */
const MOST = 20

export function judgeStream({ body, isWhole, asked }: Answered): readonly Violation[] {
  const splitter = createEventSplitter()
  const complete = splitter.push(body)
  // Clients take a last event without its blank line as well.
  const events = isWhole ? [...complete, splitter.rest()] : complete
  const texts = events.flatMap(event => dataOf(event) ?? [])
  const done = texts.indexOf('[DONE]')
  const told = done < 0 ? texts : texts.slice(0, done)
  const values = told.map(parsed)
  const isOver = isWhole || done >= 0
  return [
    ...values.flatMap((value, i) => ofEvent(value, i)),
    ...(isOver ? ofEnd(texts, done, values) : []),
    ...(isOver && asked?.usage && !values.some(isError) ? ofUsage(values) : []),
    ...ofId(values),
  ].slice(0, MOST)
}

const notJson = Symbol()

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return notJson
  }
}

/** Some send `error: null` with every chunk. */
const isError = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'error' in value && value.error !== null

/** What Azure says of the prompt before the first chunk: nobody's choice, and all else empty. */
function isAboutPrompt(value: unknown): boolean {
  const { object, choices, prompt_filter_results } = (value ?? {}) as Readonly<Record<string, unknown>>
  return object === '' && prompt_filter_results !== undefined && Array.isArray(choices) && choices.length === 0
}

function ofEvent(value: unknown, i: number): readonly Violation[] {
  const place = `events[${i}]`
  if (isAboutPrompt(value)) return []
  if (value === notJson) return [decided(place, `${place} must be JSON or [DONE].`)]
  const wrong = wrongIn(isError(value) ? errorEventAnswer : chunkAnswer, value, decided)
  return wrong.map(one => ({
    ...one,
    path: one.path === '' ? place : `${place}.${one.path}`,
    sentence: `In ${place}: ${one.sentence}`,
  }))
}

function ofEnd(texts: readonly string[], done: number, values: readonly unknown[]): readonly Violation[] {
  const last = values.at(-1)
  // An error ends a stream as well.
  if (done < 0 && isError(last)) return []
  if (done < 0) return [decided('', 'The stream must end with data: [DONE].')]
  const more = done < texts.length - 1 ? [decided('', 'Nothing may stand behind data: [DONE].')] : []
  return [...more, ...ofChoices(values)]
}

/** Each choice says why it stops. */
function ofChoices(values: readonly unknown[]): readonly Violation[] {
  if (values.some(isError)) return []
  const choices = chunksIn(values).flatMap(({ choices }) => (Array.isArray(choices) ? choices : []))
  const stopped = new Set(choices.flatMap(choice => (choice?.finish_reason ? [choice.index] : [])))
  if (choices.length === 0) return [decided('', 'The stream must have at least one choice.')]
  const open = [...new Set(choices.map(choice => choice?.index))].filter(index => !stopped.has(index))
  return open.map(index => decided('', `No event says why choice ${Number(index)} stops.`))
}

function ofUsage(values: readonly unknown[]): readonly Violation[] {
  const last = chunksIn(values).at(-1)
  if (last?.usage) return []
  return [decided('', 'With stream_options.include_usage the last event must have the usage.')]
}

function ofId(values: readonly unknown[]): readonly Violation[] {
  const ids = new Set(chunksIn(values).flatMap(({ id }) => (typeof id === 'string' && id !== '' ? [id] : [])))
  return ids.size > 1 ? [barely('id', 'All events of a stream must have the same id.')] : []
}

const chunksIn = (values: readonly unknown[]): readonly Chunk[] =>
  values.filter((value): value is Chunk => typeof value === 'object' && value !== null && !isError(value))
