/** A typed client for operations. The dashboard's page and tests call them by method and path. */
import type * as v from 'valibot'
import type { Operation, Operations, Schema, SentValueOf, ValueOf } from './operation.js'

/** The operation of a table at a method and path. */
type OperationAt<O extends Operations, A> = Extract<O[keyof O], { readonly at: A }>

type Params<A> = A extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & Params<Rest>
  : unknown

type Part<Name extends string, S> = S extends Schema
  ? object extends v.InferInput<S>
    ? { readonly [K in Name]?: SentValueOf<S> | undefined }
    : { readonly [K in Name]: SentValueOf<S> }
  : unknown

/** The path parameters, the query and the body. */
export type InputOf<Op> =
  Op extends Operation<infer A, infer Q, infer B, infer _R>
    ? Params<A> & Part<'query', Q> & Part<'body', B> & { readonly signal?: AbortSignal | undefined }
    : never

/** The JSON or text of the response. */
type OutputOf<Op> =
  Op extends Operation<infer _A, infer _Q, infer _B, infer R>
    ? R extends Schema
      ? ValueOf<R>
      : R extends string
        ? string
        : undefined
    : never

type Args<In> = object extends In ? [input?: In] : [input: In]

/** Calls an operation, wherever it runs. */
export type Calls<O extends Operations> = <A extends O[keyof O]['at']>(
  at: A,
  ...input: Args<InputOf<OperationAt<O, A>>>
) => Promise<OutputOf<OperationAt<O, A>>>

/** Calls operations over HTTP. Rejects with the result of `failed` if the response is an error or there is none. */
export interface Client<O extends Operations> extends Calls<O> {
  /** Returns the response itself, for streams. */
  open<A extends O[keyof O]['at']>(at: A, ...input: Args<InputOf<OperationAt<O, A>>>): Promise<Response>
}

export interface ClientOptions {
  /** Sent as a bearer credential, if present. */
  readonly bearer?: (() => string | undefined | Promise<string | undefined>) | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly stringify?: (body: unknown) => string
  /** By default the global one when it is needed. */
  readonly fetch?: typeof fetch
  /** Creates the error to throw. `status` is 0 if there was no response; `message` is the server's. */
  readonly failed: (failure: {
    readonly status: number
    readonly message: string | undefined
    readonly cause?: unknown
  }) => unknown
}

export interface CallInput {
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

/** Creates a client for the API at `base`. */
export function createClient<O extends Operations>(
  base: string,
  { bearer, headers, failed, stringify = JSON.stringify, fetch: own }: ClientOptions,
): Client<O> {
  async function open(at: string, { query, body, signal, ...params }: CallInput = {}): Promise<Response> {
    const [method = '', path = ''] = at.split(' ')
    const credential = await bearer?.()
    const response = await (own ?? fetch)(base + fillPath(path, params) + searchOf(query), {
      method,
      headers: {
        ...headers,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
      },
      ...(body !== undefined && { body: stringify(body) }),
      ...(signal && { signal }),
    }).catch(cause => {
      throw failed({ status: 0, message: undefined, cause })
    })
    if (response.ok) return response
    const answer: unknown = await response.json().catch(() => undefined)
    throw failed({ status: response.status, message: (answer as { error?: string } | undefined)?.error })
  }

  async function call(at: string, input?: CallInput): Promise<unknown> {
    const response = await open(at, input)
    if (response.status === 204) return undefined
    if (!/json/.test(response.headers.get('content-type') ?? '')) return response.text()
    return response.json().catch(cause => {
      throw failed({ status: response.status, message: undefined, cause })
    })
  }
  return Object.assign(call, { open }) as Client<O>
}

const fillPath = (path: string, params: Readonly<Record<string, unknown>>) =>
  path.replaceAll(/\{(\w+)\}/g, (_part, name: string) => encodeURIComponent(String(params[name])))

function searchOf(query: CallInput['query'] = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.append(name, String(value))
  return search.size === 0 ? '' : `?${search}`
}
