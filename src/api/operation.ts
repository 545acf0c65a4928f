/** An operation: one method on one path of Standin's own, declared once. Routes, checks, the OpenAPI document and typed clients follow from it. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type * as v from 'valibot'
import { check } from '../check/check.js'
import type { Caller, EventDescription } from '../core/exchange.js'

export type Schema = v.GenericSchema<unknown, unknown>

type QuerySchema = Schema & { readonly entries: Readonly<Record<string, Schema>> }

/** `GET /sessions/{id}`: the path is relative to the API that the operation belongs to. */
export type At = `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`

/** Who may call it: anyone who reaches the address, a signed-in user, or the developer. */
export type Audience = 'anyone' | 'user' | 'developer'

/** The signed-in user who calls. */
export type User = Extract<Caller, { kind: 'user' }>

/** An answer of another content type than JSON. */
export class TextAnswer {
  constructor(
    readonly contentType: string,
    readonly text: string,
  ) {}
}

/** An answer that writes itself, because it leaves piece by piece. `write` is not called for HEAD. */
export class Streamed {
  constructor(
    readonly contentType: string,
    readonly write: (response: ServerResponse) => unknown,
    /** What JSON that is written this way amounts to, for tests that hold it against the schema. */
    readonly whole?: () => unknown,
  ) {}
}

type Params<A> = A extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & Params<Rest>
  : unknown

/** A JSON value of a schema's type, which need not be mutable. */
export type ReadonlyValue<T> = T extends (...args: never) => unknown
  ? T
  : T extends readonly (infer Item)[]
    ? readonly ReadonlyValue<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: ReadonlyValue<T[K]> }
      : T

/** The type that a schema describes. */
export type Of<S extends Schema> = ReadonlyValue<v.InferOutput<S>>

/** What `run` gets: parts of the path by their names, and what was checked. */
type Given<A, Q, B, W> = Params<A> &
  (Q extends Schema ? { readonly query: v.InferOutput<Q> } : unknown) &
  (B extends Schema ? { readonly body: v.InferOutput<B> } : unknown) &
  (W extends 'user' ? { readonly user: User } : unknown) & {
    /** The scope that the query names, or else the header x-standin-scope. */
    readonly scope: string | undefined
    readonly headers: IncomingHttpHeaders
    /** From the socket: a header such as X-Forwarded-For is written by the client. */
    readonly remoteAddress: string | undefined
  }

// biome-ignore lint/suspicious/noConfusingVoidType: what a function that returns nothing returns.
type Result<R> = R extends Schema ? Of<R> | Streamed : R extends string ? TextAnswer : void

export interface Operation<
  A extends string = string,
  Q = Schema | undefined,
  B = Schema | undefined,
  R = Schema | string | undefined,
> {
  readonly at: A
  readonly does: string
  /** Further remarks. */
  readonly more?: string
  readonly query?: Q
  /** What headers mean, by their names. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: B
  /** Whether the body may be left out: an empty object stands for it then. */
  readonly isBodyOptional?: true
  /** What the body is held against before `run`, where `run` itself checks it against `body`. */
  readonly takes?: Schema
  /** How the body is read. */
  readonly reads?: BodyReading
  /** The JSON that comes back, or the content type of a text; nothing where there is no body. */
  readonly returns?: R
  /** What comes back, in words. */
  readonly answer: string
  /** 200 with a body and 204 without one, unless set. */
  readonly status?: 201
  /** The events of an answer that is a stream, and what it is in words. */
  readonly streams?: { readonly answer: string; readonly events: readonly EventDescription[] }
  /** Errors beyond those that all operations have, by status. */
  readonly errors?: Readonly<Record<number, string>>
  /** The developer, unless set. */
  readonly access?: Audience
  run(given: never): unknown
}

export interface BodyReading {
  /** How long it may be. */
  readonly bytes?: number
  /** JSON of a usual number of values, unless set. A SyntaxError is answered with 400. */
  readonly parse?: (body: Buffer) => unknown
}

/** By the names that the OpenAPI document gives them. */
export type Operations = Readonly<Record<string, Operation>>

interface Declared<A, Q, B, R, T, W>
  extends Omit<Operation, 'run' | 'at' | 'query' | 'body' | 'takes' | 'returns' | 'access'> {
  readonly at: A
  readonly query?: Q
  readonly body?: B
  readonly takes?: T & Schema
  readonly returns?: R
  readonly access?: W & Audience
  readonly run: (given: Given<A, Q, T extends Schema ? T : B, W>) => Result<R> | Promise<Result<R>>
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
  declared: Declared<A, Q, B, R, T, W>,
): Operation<A, Q, B, R> => declared as Operation<A, Q, B, R>

/** Whether answers are held against `returns`: tests do that, and it costs nothing otherwise. */
export const answers: { isChecked: boolean; wrong(sentence: string): void } = {
  isChecked: false,
  wrong(sentence) {
    throw new Error(sentence)
  },
}

/** Reports to `answers.wrong` what in an answer is not as its operation declares it. */
export function checkAnswer({ at, returns }: Operation, answer: unknown): void {
  const value = answer instanceof Streamed ? answer.whole?.() : answer
  if (typeof returns !== 'object' || value === undefined) return
  const checked = check(
    returns,
    JSON.parse(JSON.stringify(value, (_key, part) => (typeof part === 'bigint' ? Number(part) : part))),
    { whole: 'the answer' },
  )
  if ('mistakes' in checked) answers.wrong(`${at}: ${checked.mistakes.map(({ sentence }) => sentence).join(' ')}`)
}
