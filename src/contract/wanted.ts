/** Which clauses are meant: by their ids, by the sections of the document, or by where they are from. */
import { glob } from '../core/glob.js'
import type { Clause } from './clause.js'

/** `only` is a list with commas; `*` stands for anything, and letters are equal in both cases. Everything where it is not given. */
export function wantedOf(table: readonly Clause[], only = '*'): readonly Clause[] {
  const patterns = only
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
    .map(part => glob(part.toLowerCase()))
  return table.filter(({ id, section, source }) =>
    [id, section, source].some(name => patterns.some(pattern => pattern.test(name.toLowerCase()))),
  )
}
