/** An OpenAPI document in memory, with its references resolved on demand. */
import { isObject } from '../core/json.js'
import { percentDecoded } from '../core/paths.js'

/** An object of a document. */
export type Node = Readonly<Record<string, unknown>>

export type OpenApiDocument = ReturnType<typeof documentOf>

/** A longer chain of references is taken for a cycle. */
const MOST_REFERENCES = 50

/** `name` is the file, as the configuration names it. */
export function documentOf(name: string, root: Node) {
  /** The value at a reference such as `#/components/schemas/Project`; `undefined` if there is none. */
  const at = (reference: string): unknown =>
    stepsOf(reference).reduce<unknown>(
      (value, step) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, step) ? (value as Node)[step] : undefined,
      root,
    )
  return {
    ...{ name, version: String(root.openapi), root, at },
    /** `value`, or what it refers to if it is a reference. */
    resolved(value: unknown): unknown {
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
export const stepsOf = (pointer: string): readonly string[] =>
  pointer
    .replace(/^#?\/?/, '')
    .split('/')
    .filter(step => step !== '')
    .map(step => percentDecoded(step).replaceAll('~1', '/').replaceAll('~0', '~'))
