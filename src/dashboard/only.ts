/** Refuses the methods that a path does not have. */
import type { Request } from 'express'
import { methodNotAllowed } from '../core/errors.js'

/** A handler for every method that no other one took: a 405 that names those of this path. */
export const only =
  (...allowed: readonly string[]) =>
  ({ method }: Request): never => {
    throw methodNotAllowed(method, allowed)
  }
