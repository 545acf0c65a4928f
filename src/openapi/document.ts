/** An OpenAPI document in memory, with its references resolved on demand. */
import { isObject } from '../core/json.js'
import { percentDecoded } from '../core/paths.js'

/** An object of a document. */
export type Node = Readonly<Record<string, unknown>>

export type OpenApiDocument = ReturnType<typeof documentOf>

/** A longer chain of references is treated as circular. */
const MOST_REFERENCES = 50

/** `name` is the file, as the configuration names it. */
export function documentOf(name: string, root: Node) {
  /** The value at a reference such as `#/components/schemas/Project`; `undefined` if there is none. */
  const at = (reference: string): unknown =>
    pointerSteps(reference).reduce<unknown>(
      (value, step) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, step) ? (value as Node)[step] : undefined,
      root,
    )
  return {
    ...{ name, version: String(root.openapi), root, at },
    /** Follows references, and returns other values unchanged; `undefined` if a reference cannot be resolved. */
    resolve(value: unknown): unknown {
      let found = value
      for (let i = 0; isObject(found) && typeof found.$ref === 'string'; i++) {
        if (i > MOST_REFERENCES) return undefined
        found = at(found.$ref)
      }
      return found
    },
  }
}

/** The segments of a JSON pointer such as `#/paths/~1projects/get`. */
export const pointerSteps = (pointer: string): readonly string[] =>
  pointer
    .replace(/^#?\/?/, '')
    .split('/')
    .filter(step => step !== '')
    .map(step => percentDecoded(step).replaceAll('~1', '/').replaceAll('~0', '~'))
