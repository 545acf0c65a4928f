/** Values that a schema itself names. */
import { each } from './layers.js'
import type { Layers } from './place.js'
import type { Json } from './schema.js'

/** The values of which it must be one. */
export function fixedValues(layers: Layers): readonly Json[] | undefined {
  const [only] = each(layers, layer => layer.const)
  if (only !== undefined) return [only]
  return each(layers, layer => layer.enum).toSorted((a, b) => a.length - b.length)[0]
}

/** Values that the author of the schema has named: examples, a default that says something, or "e.g." in a description. */
export function suggestions(layers: Layers): readonly Json[] {
  const examples = each(layers, layer => layer.examples).flat()
  if (examples.length > 0) return examples
  const defaults = each(layers, layer => layer.default).filter(value => !isEmpty(value))
  if (defaults.length > 0) return defaults
  return each(layers, ({ description }) => description).flatMap(exampleIn)
}

const isEmpty = (value: Json) =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)

/** `San Francisco, CA` of "The city and state, e.g. San Francisco, CA". */
function exampleIn(description: string): readonly string[] {
  const [, quoted, bare] =
    /\be\.g\.,? (?:["'`]([^"'`]{1,80})["'`]|([^"'`()]{1,60}?)\s*(?:\)|\.?$))/.exec(description) ?? []
  const example = quoted ?? bare
  return example === undefined || / or | etc/.test(example) ? [] : [example]
}
