/** The checks that clauses make of answers. */

import { check, type Path } from '../check/check.js'
import { chunkAnswer } from '../completions/completion.js'
import { dataIn } from '../completions/events.js'
import { isJsonType, isObject } from '../core/json.js'
import { CallNotMade, type ReceivedAnswer } from './call.js'
import type { AnswerCheck } from './clause.js'
import { isAboutPrompt } from './judge.js'

/** A schema of contract/answers.ts. */
type Schema = Parameters<typeof check>[0]

export const status = (expected: number): AnswerCheck => ({
  expected: `status ${expected}`,
  differs: ({ status }) => (status === expected ? undefined : `status ${status}`),
})

/** Any refusal except one about credentials. */
export const refused: AnswerCheck = {
  expected: 'a status from 400 to 499 other than 401',
  differs: ({ status }) => (status >= 400 && status < 500 && status !== 401 ? undefined : `status ${status}`),
}

const jsonWhere = (what: string, fits: (value: unknown) => boolean): AnswerCheck => ({
  expected: `${what}, with Content-Type: application/json`,
  differs({ headers, text }) {
    const type = headers.get('content-type') ?? 'none'
    if (!isJsonType(type)) return `Content-Type: ${type}`
    const { value, why } = jsonIn(text)
    if (why !== undefined) return `a body that is not JSON: ${why}`
    return fits(value) ? undefined : 'JSON that is not an object'
  },
})

/** Any JSON with the content type of JSON. The document says no more about models and completions. */
export const anyJson = jsonWhere('one JSON response', () => true)

/** A JSON object with the content type of JSON. */
export const jsonObject = jsonWhere('one JSON object', isObject)

/** A list of any form that contains some text. Its fields are not documented. */
export const someName: AnswerCheck = {
  expected: 'a list that names at least one model',
  differs: ({ text }) => (hasListedText(jsonIn(text).value, false) ? undefined : 'no name in any list'),
}

function hasListedText(value: unknown, isListed: boolean): boolean {
  if (typeof value === 'string') return isListed && value !== ''
  if (Array.isArray(value)) return value.some(item => hasListedText(item, true))
  return typeof value === 'object' && value !== null && Object.values(value).some(item => hasListedText(item, isListed))
}

/** The whole body fits a schema of contract/answers.ts. */
export const fitting = (schema: Schema, expected: string): AnswerCheck => ({
  expected,
  differs: ({ text }) => mistakesIn(schema, text),
})

/** One field of the body fits the schema. */
export const field = (name: string, schema: Schema, expected: string): AnswerCheck => ({
  expected,
  differs: ({ text }) => mistakesIn(schema, text, path => path.length === 0 || path[0] === name),
})

/** The error mentions this word. Skipped for errors in another form, which ERR-5 is about. */
export const naming = (word: string): AnswerCheck => ({
  expected: `an error that names ${word}`,
  differs(answered) {
    const error = errorIn(answered)
    if (error === undefined) throw new CallNotMade('the status is right, but the body is not an error object (ERR-5)')
    return error.includes(word) ? undefined : `the error ${JSON.stringify(error)}`
  },
})

/** The body has exactly these fields. */
export const onlyFields = (...names: readonly string[]): AnswerCheck => ({
  expected: `a body with ${names.join(' and ')}, and nothing else`,
  differs({ text }) {
    const { value } = jsonIn(text)
    const otherFields = Object.keys(value ?? {}).filter(name => !names.includes(name))
    return otherFields.length === 0 ? undefined : `also ${otherFields.join(', ')}`
  },
})

const errorIn = ({ text }: ReceivedAnswer): string | undefined => {
  const { error } = (jsonIn(text).value ?? {}) as { readonly error?: unknown }
  return typeof error === 'string' ? error : undefined
}

function mistakesIn(schema: Schema, text: string, concerns: (path: Path) => boolean = () => true) {
  const { value, why } = jsonIn(text)
  if (why !== undefined) return `a body that is not JSON: ${why}`
  return mistakesOf(schema, value, concerns)
}

/** Returns the first mistake in a value as a sentence. */
export function mistakesOf(schema: Schema, value: unknown, concerns: (path: Path) => boolean = () => true) {
  const result = check(schema, value, { whole: 'The body' })
  return 'mistakes' in result ? result.mistakes.find(({ path }) => concerns(path))?.sentence : undefined
}

/** Parses a body as JSON, or returns why that fails. */
export function jsonIn(text: string): { readonly value?: unknown; readonly why?: string } {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { why: text === '' ? 'it is empty' : (error as Error).message }
  }
}

const DONE = '[DONE]'

export const eventStream: AnswerCheck = {
  expected: 'Content-Type: text/event-stream',
  differs({ headers }) {
    const type = headers.get('content-type') ?? 'none'
    return /^text\/event-stream\s*(;|$)/i.test(type) ? undefined : `Content-Type: ${type}`
  },
}

export const chunks: AnswerCheck = {
  expected: 'events that are each a chat.completion.chunk',
  differs: ({ text }) => chunkMistake(text),
}

/** Returns what is wrong with the first event that is not a chunk. */
function chunkMistake(text: string): string | undefined {
  const events = dataIn(Buffer.from(text)).filter(data => data !== DONE)
  if (events.length === 0) return 'no event'
  for (const [i, data] of events.entries()) {
    const { value, why } = jsonIn(data)
    if (isAboutPrompt(value)) continue
    const mistake = why === undefined ? mistakesOf(chunkAnswer, value) : `it is not JSON: ${why}`
    if (mistake !== undefined) return `event ${i + 1}: ${mistake}`
  }
  return undefined
}

export const endsDone: AnswerCheck = {
  expected: `data: ${DONE} as the last event`,
  differs({ text }) {
    const last = dataIn(Buffer.from(text)).at(-1)
    if (last === DONE) return undefined
    return last === undefined ? 'no event' : `the last event is ${last.slice(0, 100)}`
  },
}
