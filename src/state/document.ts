/** Writes the whole state down as a document, and makes a state what a document says. */
import { check } from '../core/check.js'
import { withDigests } from '../core/kept-secrets.js'
import { ProblemsError } from '../core/problem.js'
import type { State, TableName, Tables } from '../core/state.js'
import { documentOf, type StateDocument, stateDocument } from '../core/state-document.js'
import { type AnyRow, type AnyTable, forEachTable, shapeOf } from './shapes.js'

const tableNames = Object.keys(forEachTable(() => undefined)) as TableName[]

const anyTable = (tables: Tables, name: TableName) => tables[name] as unknown as AnyTable

/** All rows, seen at one moment. */
export function exportState(state: State): Promise<StateDocument> {
  return state.read(async tables => {
    const rows = forEachTable((): readonly AnyRow[] => [])
    for (const name of tableNames) rows[name] = await anyTable(tables, name).find({})
    return documentOf(rows as unknown as StateDocument)
  })
}

/** Puts the rows of a document in place of all that are there. Rejects with a ProblemsError that names the row and the field, and changes nothing then. */
export async function importState(state: State, document: unknown): Promise<void> {
  const rows = checked(document)
  await state.write(async tables => {
    for (const name of tableNames) {
      const table = anyTable(tables, name)
      await table.remove({})
      // The oldest first, as they came about.
      for (const row of rows[name].toReversed()) await table.insert(withDigests(name, row as unknown as AnyRow))
    }
  })
}

/** What a sentence about a mistake must not repeat. */
const isSecret = (path: readonly unknown[]) =>
  /^(encrypted_password|token|token_hash|auth_code|code|link)$/.test(String(path.at(-1)))

function checked(document: unknown): StateDocument {
  const result = check(stateDocument, document, { firstOnly: true, whole: 'The state', secret: isSecret })
  if ('mistakes' in result) throw problem(result.mistakes[0]?.sentence ?? 'The state is of no form that is known.')
  // As it was given: the order of names in metadata is the app's own.
  const given = document as StateDocument
  const rows = { ...given, refresh_tokens: given.refresh_tokens.map(row => ({ ...row, salt: row.salt ?? null })) }
  for (const name of tableNames) requireUnique(name, rows[name] as unknown as readonly AnyRow[])
  return rows
}

function requireUnique(name: TableName, rows: readonly AnyRow[]): void {
  const { key, unique } = shapeOf(name)
  for (const column of [key, ...unique]) {
    const seen = new Map<unknown, number>()
    for (const [i, { [column]: value }] of rows.entries()) {
      const before = seen.get(value)
      if (before !== undefined) throw problem(`${name}[${i}].${column} must not be that of ${name}[${before}].`)
      if (value !== null) seen.set(value, i)
    }
  }
}

const problem = (sentence: string) => new ProblemsError([{ origin: 'state', sentence }])
