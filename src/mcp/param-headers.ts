/**
 * The arguments of a tool that clients repeat in headers: those with `x-mcp-header` in its schema. A separate file,
 * because it only depends on schemas.
 */
import { isObject } from '../core/json.js'

/**
 * Only nested properties count, as in the specification. The value is the argument, or `undefined` if it is missing or
 * null, in which case no header is sent.
 */
export function* parameterHeaders(schema: unknown, args: unknown): Generator<{ header: string; value: unknown }> {
  if (!isObject(schema) || !isObject(schema.properties)) return
  for (const [name, property] of Object.entries(schema.properties)) {
    const value = isObject(args) && Object.hasOwn(args, name) ? (args[name] ?? undefined) : undefined
    const header = isObject(property) ? property['x-mcp-header'] : undefined
    if (typeof header === 'string') yield { header, value }
    yield* parameterHeaders(property, value)
  }
}
