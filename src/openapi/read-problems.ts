/** Rewords the problems that Redocly finds in a document. */
import type { lintDocument } from '@redocly/openapi-core'
import { type Path, pathInWords } from '../check/check.js'
import { valueAt } from '../config/options.js'
import { pointerSteps } from './document.js'

type LintProblem = Awaited<ReturnType<typeof lintDocument>>[number]

/**
 * Whether a document can be used despite this problem. Published documents have many in schemas, such as keywords of
 * another version of OpenAPI, and in parts that only describe.
 */
export function isHarmless({ ruleId, message, location: [location] }: LintProblem, file: string): boolean {
  if (ruleId !== 'struct') return false
  const { pointer = '', source } = location ?? {}
  if (/^(The field `(description|info)` |Must contain at least one )/.test(message)) return true
  if (source?.absoluteRef !== file) return !/^#\/(paths|components)\//.test(pointer)
  return !/^#\/?($|paths|components)/.test(pointer) || inSchema.test(pointer) || descriptive.test(pointer)
}

const inSchema = /^#\/components\/schemas\/|\/schema(\/|$)/
const descriptive =
  /^#\/components\/(links|callbacks|x-[^/]*)|\/(callbacks|links|externalDocs|tags|deprecated|summary)(\/|$)/

/** Whether the value is part of a discriminator's mapping, which can have names of schemas instead of references. */
export const isSchemaName = (pointer = ''): boolean => pointer.includes('/discriminator/mapping/')

/** The problem as a sentence. `parsed` is the file that contains it. */
export function sentenceOf({ ruleId, message, suggest }: LintProblem, pointer: string, parsed: unknown): string {
  const path = pathIn(parsed, pointer)
  const field = (...more: readonly string[]) => pathInWords([...path, ...more]) || 'the document'
  if (ruleId === 'no-unresolved-refs') {
    const { $ref } = (valueAt(parsed, path) ?? {}) as { readonly $ref?: unknown }
    return `${field('$ref')} ${JSON.stringify($ref)} ${whyUnresolved(message)}`
  }
  const [, unknown] = /^Property `(.*)` is not expected here\.$/s.exec(message) ?? []
  if (unknown !== undefined) return `${field()} is not known here.${suggest[0] ? ` Did you mean "${suggest[0]}"?` : ''}`
  const [, missing] = /^The field `(.*)` must be present on this level\.$/s.exec(message) ?? []
  if (missing !== undefined) return `${field(missing)} is missing.`
  const [, words] = /can be one of the following only: (.*)\.$/s.exec(message) ?? []
  if (words !== undefined) return `${field()} must be one of ${words.replaceAll('"', '')}.`
  const [, name, kind, given] = /^Expected type `(.*?)`(?: \((\w+)\))? but got `(\w+)`\.?$/s.exec(message) ?? []
  if (name !== undefined) return `${field()} must be ${article(kind ?? name)}, not ${given}.`
  const [, fields] = /^Must contain at least one of the following fields: (.*)\.$/s.exec(message) ?? []
  return fields === undefined ? `${field()}: ${message}` : `${field()} must have one of ${fields}.`
}

const article = (kind: string) => (/^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`)

function whyUnresolved(message: string): string {
  const why = message.replace(/^Can't resolve \$ref(: )?/, '')
  if (why === '') return 'refers to something that does not exist.'
  if (/^(is|leads) /.test(why)) return why
  const [, file] = /ENOENT: no such file or directory '(.*)'/.exec(why) ?? []
  return file === undefined ? `cannot be read: ${why}.` : 'refers to a file that does not exist.'
}

/** The segments of a JSON pointer; list items by their index. */
function pathIn(parsed: unknown, pointer: string): Path {
  let value = parsed
  return pointerSteps(pointer).map(step => {
    const key = Array.isArray(value) ? Number(step) : step
    value = valueAt(value, [key])
    return key
  })
}
