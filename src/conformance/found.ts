/** Makes violations of what was found, each with who says that it must be otherwise. */
import { check, spoken } from '../core/check.js'
import type { Violation } from '../core/violation.js'

export type Schema = Parameters<typeof check>[0]
export type Found = (path: string, sentence: string) => Violation

/** What platform-api.md says in this section. */
export const documented =
  (section: string): Found =>
  (path, sentence) => ({ path, sentence, severity: 'critical', source: 'documented', section })

/** What it leaves open. */
export const decided: Found = (path, sentence) => ({ path, sentence, severity: 'warning', source: 'decided' })

/** And what hardly anybody will miss. */
export const barely: Found = (path, sentence) => ({ path, sentence, severity: 'info', source: 'decided' })

/** So many of one answer are told: a list of a thousand models that all lack a field says the same a thousand times. */
const MOST = 20

/** Everything in which `value` is not as `schema` has it. Nothing of it is quoted, for it may be secret. */
export function wrongIn(schema: Schema, value: unknown, found: Found): readonly Violation[] {
  const checked = check(schema, value, { whole: 'The answer', secret: () => true })
  if ('value' in checked) return []
  return checked.mistakes.slice(0, MOST).map(({ path, sentence }) => found(spoken(path), sentence))
}
