/**
 * An operation: one method on one of Standin's own paths, declared once. Routes, validation, typed clients and the
 * tables in docs/ are derived from it.
 */

import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type * as v from 'valibot'
import { check } from '../check/check.js'
import { arrayOf, closed, integer, optional, text, wholeNumber } from '../check/forms.js'
import type { Caller } from './exchange.js'

export type Schema = v.GenericSchema<unknown, unknown>

type QuerySchema = Schema & { readonly entries: Readonly<Record<string, Schema>> }

/** For example `GET /sessions/{id}`. The path is relative to the operation's API. */
export type At = `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`

/** Who may call it: anyone who reaches the address, a signed-in user, or the developer. */
export type Audience = 'anyone' | 'user' | 'developer'

export type User = Extract<Caller, { kind: 'user' }>

/** A response with a content type other than JSON. */
export class TextAnswer {
  constructor(
    readonly contentType: string,
    readonly text: string,
  ) {}
}

/** A response that is written piece by piece. `write` is not called for HEAD. */
export class StreamedAnswer {
  constructor(
    readonly contentType: string,
    readonly write: (response: ServerResponse) => unknown,
  ) {}
}

type Params<A> = A extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & Params<Rest>
  : unknown

/** The read-only form of a JSON value's type. */
type ReadonlyValue<T> = T extends (...args: never) => unknown
  ? T
  : T extends readonly (infer Item)[]
    ? readonly ReadonlyValue<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: ReadonlyValue<T[K]> }
      : T

/** The type that a schema describes. */
export type ValueOf<S extends Schema> = ReadonlyValue<v.InferOutput<S>>
/** The type of what is sent, before defaults are filled in. */
export type SentValueOf<S extends Schema> = ReadonlyValue<v.InferInput<S>>

/** The argument of `run`: the path parameters, and the validated input. */
type RunInput<A, Q, B, W> = Params<A> &
  (Q extends Schema ? { readonly query: v.InferOutput<Q> } : unknown) &
  (B extends Schema ? { readonly body: v.InferOutput<B> } : unknown) &
  (W extends 'user' ? { readonly user: User } : unknown) & {
    /** The scope in the query, or else in the header x-standin-scope. */
    readonly scope: string | undefined
    readonly headers: IncomingHttpHeaders
    /** From the socket, since headers such as X-Forwarded-For are written by clients. */
    readonly remoteAddress: string | undefined
  }

// biome-ignore lint/suspicious/noConfusingVoidType: the result of a function that returns nothing
type Result<R> = R extends Schema ? ValueOf<R> | StreamedAnswer : R extends string ? TextAnswer : void

export interface Operation<
  A extends string = string,
  Q = Schema | undefined,
  B = Schema | undefined,
  R = Schema | string | undefined,
> {
  readonly at: A
  readonly does: string
  readonly query?: Q
  readonly body?: B
  /** Whether the body may be omitted. It is then an empty object. */
  readonly isBodyOptional?: true
  /** The schema that the body must match before `run`, if `run` itself validates the body against `body`. */
  readonly takes?: Schema
  readonly bodyReading?: BodyReading
  /** The schema of the JSON response, or the content type of a text; absent if there is no body. */
  readonly returns?: R
  /** Defaults to 200 with a body and 204 without one. */
  readonly status?: 201
  /** Defaults to the developer. */
  readonly access?: Audience
  run(given: never): unknown
}

interface BodyReading {
  readonly bytes?: number
  /** Defaults to JSON with the usual limit on values. A SyntaxError becomes a 400. */
  readonly parse?: (body: Buffer) => unknown
}

/** By their names. */
export type Operations = Readonly<Record<string, Operation>>

interface Declaration<A, Q, B, R, T, W>
  extends Omit<Operation, 'run' | 'at' | 'query' | 'body' | 'takes' | 'returns' | 'access'> {
  readonly at: A
  readonly query?: Q
  readonly body?: B
  readonly takes?: T & Schema
  readonly returns?: R
  readonly access?: W & Audience
  readonly run: (given: RunInput<A, Q, T extends Schema ? T : B, W>) => Result<R> | Promise<Result<R>>
}

/** Declares an operation. */
export const operation = <
  const A extends At,
  Q extends QuerySchema | undefined = undefined,
  B extends Schema | undefined = undefined,
  R extends Schema | string | undefined = undefined,
  T extends Schema | undefined = undefined,
  const W extends Audience = 'developer',
>(
  declared: Declaration<A, Q, B, R, T, W>,
): Operation<A, Q, B, R> => declared as Operation<A, Q, B, R>

/** Whether responses are checked against `returns`, which only tests switch on. */
export const answers: { isChecked: boolean; report(sentence: string): void } = {
  isChecked: false,
  report(sentence) {
    throw new Error(sentence)
  },
}

/** Reports a response that violates its declaration to `answers.report`. */
export function checkAnswer({ at, returns }: Operation, answer: unknown): void {
  if (typeof returns !== 'object' || answer === undefined || answer instanceof StreamedAnswer) return
  const checked = check(
    returns,
    JSON.parse(JSON.stringify(answer, (_key, part) => (typeof part === 'bigint' ? Number(part) : part))),
    { whole: 'the answer' },
  )
  if ('mistakes' in checked) answers.report(`${at}: ${checked.mistakes.map(({ sentence }) => sentence).join(' ')}`)
}

/** A page of a list: its query, and its response. */
export const listingQuery = closed({
  search: optional(text, 'Only entries that contain these words, in upper or lower case.'),
  limit: optional(integer(1, 1000), 'At most this many.'),
  offset: optional(integer(0, 1_000_000_000), 'How many to skip.'),
})
export type ListingQuery = ValueOf<typeof listingQuery>

/** A list, or a page of one with the total count. */
export const dataOf = <S extends Schema>(item: S) => closed({ data: arrayOf(item) })
export const pageOf = <S extends Schema>(item: S) => closed({ data: arrayOf(item), total: wholeNumber })

/** The query or body of an operation on one scope. */
export const scopeQuery = closed({ scope: optional(text, 'The scope; without it, all scopes.') })

/** Returns a function that tests whether the texts of an item contain all words of a search. */
export function searchFor(search = ''): (texts: readonly (string | null | undefined)[]) => boolean {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter(word => word !== '')
  return texts => {
    const all = texts.join('\n').toLowerCase()
    return words.every(word => all.includes(word))
  }
}
