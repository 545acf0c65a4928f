/** Finds mistakes in the JSON Schema of a function or of an answer for which OpenAI refuses a request. */
import { isObject } from '../core/json.js'

/** A position in a schema: the last step, and the position above it. */
interface Place {
  readonly step: string
  readonly parent: Place | undefined
}

type Node = Readonly<Record<string, unknown>>

/**
 * At most this many parts of all schemas of a request are checked, so that large schemas do not block other requests.
 */
const MOST_PARTS = 20_000

/**
 * Returns a sentence about the first mistake, from the outside in. `what` is for example `function 'x'`; it is one of
 * `count` schemas.
 */
export function schemaMistake(what: string, root: unknown, isStrict: boolean, count = 1): string | undefined {
  if (!isObject(root)) return undefined
  const refusal = (why: string) => `Invalid schema for ${what}: ${why}`
  if (!hasType('object', root)) {
    const type = root.type === undefined ? 'None' : String(root.type).slice(0, 100)
    return refusal(`schema must be a JSON Schema of 'type: "object"', got 'type: "${type}"'.`)
  }
  const parts: { readonly node: Node; readonly place: Place | undefined }[] = [{ node: root, place: undefined }]
  const most = Math.ceil(MOST_PARTS / count)
  for (let next = 0; next < parts.length; next++) {
    const { node, place } = parts[next] as (typeof parts)[number]
    const mistake = nodeMistake(node, isStrict)
    if (mistake !== undefined) return refusal(`In context=${pathOf(place)}, ${mistake}`)
    addParts(node, place)
  }
  return undefined

  /** Adds the schemas in a schema that have to be checked. */
  function addParts(node: Node, parent: Place | undefined): void {
    for (const step of ['properties', '$defs', 'definitions', 'anyOf']) {
      const inner = node[step]
      if (typeof inner !== 'object' || inner === null) continue
      const place = { step, parent }
      for (const name in inner) {
        if (parts.length >= most) return
        add((inner as Node)[name], { step: name, parent: place })
      }
    }
    if (node.items !== undefined) add(node.items, { step: 'items', parent })
  }

  function add(node: unknown, place: Place): void {
    if (isObject(node)) parts.push({ node, place })
  }
}

function nodeMistake(node: Node, isStrict: boolean): string | undefined {
  if (hasType('array', node) && node.items === undefined && node.prefixItems === undefined) {
    return 'array schema missing items.'
  }
  if (!isStrict) return undefined
  for (const word of ['allOf', 'oneOf']) if (node[word] !== undefined) return `'${word}' is not permitted.`
  if (!hasType('object', node) && node.properties === undefined) return undefined
  if (node.additionalProperties !== false) return "'additionalProperties' is required to be supplied and to be false."
  const required = new Set(Array.isArray(node.required) ? node.required : [])
  const missing = Object.keys(isObject(node.properties) ? node.properties : {}).find(name => !required.has(name))
  if (missing === undefined) return undefined
  return `'required' is required to be supplied and to be an array including every key in properties. Missing '${missing.slice(0, 100)}'.`
}

const hasType = (type: string, { type: own }: Node) => own === type || (Array.isArray(own) && own.includes(type))

/** In OpenAI's notation: `()`, `('items',)`, `('properties', 'city')`. */
function pathOf(place: Place | undefined): string {
  const steps: string[] = []
  for (let at = place; at && steps.length < 20; at = at.parent) steps.unshift(`'${at.step.slice(0, 100)}'`)
  return `(${steps.join(', ')}${steps.length === 1 ? ',' : ''})`
}
