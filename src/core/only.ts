/** Refuses the methods that a path does not have. */
import { methodNotAllowed } from './errors.js'

/** A handler for every method that no other one took: throws a 405 that names those of this path. */
export const only =
  (...allowed: readonly string[]) =>
  ({ method }: { readonly method: string }): never => {
    throw methodNotAllowed(method, allowed)
  }
