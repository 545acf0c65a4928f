/**
 * The platform's answers other than chat completions, as schemas for the contract, the OpenAPI document and the check
 * of live answers.
 */
import * as v from 'valibot'
import { arrayOf, count, only, open, text } from '../check/check.js'
import type { AnswerBody } from '../completions/completion.js'

/** Documented ("Health response"): dotted numeric, three parts. */
export const healthAnswer = open({
  status: only('ok'),
  version: v.pipe(text, v.regex(/^\d+\.\d+\.\d+$/, 'three numbers separated by dots')),
})

/** Documented ("API index response"), except for the elements. */
export const indexAnswer = open({
  status: only('ok'),
  endpoints: v.array(v.unknown(), 'an array'),
})

/** Our own definition: the elements of the index. */
export const listedEndpoint = open({
  method: text,
  path: v.pipe(text, v.startsWith('/', 'a path')),
  credential: arrayOf(text, 'strings'),
})

/** The index with our elements. */
export const listedIndexAnswer = open({
  ...indexAnswer.entries,
  endpoints: arrayOf(listedEndpoint, 'endpoints'),
})

/** Documented ("Error object"): always a text, never OpenAI's object. */
export const errorAnswer = open({ error: text })

/** Documented: with the requested path. */
export const notFoundAnswer = open({ error: text, path: v.pipe(text, v.startsWith('/', 'a path')) })

/** The listing in OpenAI's format. */
export const modelsAnswer = open({
  object: only('list'),
  data: arrayOf(
    open({ id: v.pipe(text, v.nonEmpty('an id')), object: only('model'), created: count, owned_by: text }),
    'models',
  ),
})

export type HealthAnswer = AnswerBody<v.InferInput<typeof healthAnswer>>
export type IndexAnswer = AnswerBody<v.InferInput<typeof listedIndexAnswer>>
