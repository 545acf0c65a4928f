/** Tells whoever calls the control API what is wrong with what was sent. */
import { ProblemsError } from '../check/problem.js'
import { invalidRequest } from '../core/errors.js'

/** Throws a 400 for the first problem, and any other error as it is. */
export function asRefusal(error: unknown): never {
  const [first] = error instanceof ProblemsError ? error.problems : []
  throw first ? invalidRequest(first.sentence) : error
}
