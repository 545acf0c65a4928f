/** Calls operations of the same process without HTTP: for tests, which may replace `fetch` and stop the timers. */
import { check } from '../check/check.js'
import { ProblemsError } from '../check/problem.js'
import type { CallInput, Calls } from '../core/client.js'
import { invalidRequest } from '../core/errors.js'
import type { Operation, Operations, Schema } from '../core/operation.js'

/** Checks what an operation takes. Throws a 400 that names the first mistake. */
export function validated(schema: Schema, value: unknown, whole: string): unknown {
  const result = check(schema, value, { firstOnly: true, whole })
  if ('value' in result) return result.value
  throw invalidRequest(result.mistakes[0]?.sentence ?? `${whole} does not have the required form.`)
}

/**
 * Creates a client for the operations that `load` returns. `around` is given each call at once, and when to begin it. Rejects with
 * what the operation throws, and with a ProblemsError for input that it does not take.
 */
export function createLocalClient<O extends Operations>(
  load: () => Promise<O>,
  around: <T>(at: string, work: () => Promise<T>) => Promise<T>,
): Calls<O> {
  async function call(at: string, { query, body, signal: _signal, ...params }: CallInput): Promise<unknown> {
    const one: Operation | undefined = Object.values(await load()).find(operation => operation.at === at)
    if (!one) throw new RangeError(`There is no operation ${at}.`)
    const schema = one.takes ?? one.body
    const taken = (part: Schema | undefined, value: unknown) =>
      part && ofCaller(() => validated(part, value ?? {}, at), at)
    const input = { query: taken(one.query, query), body: taken(schema, body) }
    return one.run({ ...params, ...input, scope: query?.scope, headers: {}, remoteAddress: undefined } as never)
  }
  return ((at: string, input: CallInput = {}) => around(at, () => call(at, input))) as Calls<O>
}

/** A mistake of the caller has the form of all mistakes in what tests pass in. */
function ofCaller<T>(work: () => T, origin: string): T {
  try {
    return work()
  } catch (error) {
    throw new ProblemsError([{ origin, sentence: (error as Error).message }])
  }
}
