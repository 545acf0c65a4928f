/** Writes the whole state down as a document, and makes a state what a document says. */
import { check, type Path, spoken } from '../check/check.js'
import { ProblemsError } from '../check/problem.js'
import { withDigests } from '../core/secrets.js'
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
  const rows = await checked(document)
  await state.write(async tables => {
    for (const name of tableNames) {
      const table = anyTable(tables, name)
      await table.remove({})
      // The oldest first, as they came about.
      for (const slice of slicesOf<unknown>(rows[name].toReversed())) {
        for (const row of slice.rows) await table.insert(withDigests(name, row as AnyRow))
        await othersTurn()
      }
    }
  })
}

/** What a sentence about a mistake must not repeat. */
const isSecret = (path: readonly unknown[]) =>
  /^(encrypted_password|token|token_hash|auth_code|code|link)$/.test(String(path.at(-1)))

/** Looked at, and put in place, before other requests have their turn. */
const SLICE = 100

/** Values compared before other requests have their turn. */
const OF_A_COLUMN = 10_000

const othersTurn = () => new Promise(resolve => setImmediate(resolve))

function* slicesOf<T>(rows: readonly T[]): Generator<{ readonly from: number; readonly rows: readonly T[] }> {
  for (let from = 0; from < rows.length; from += SLICE) yield { from, rows: rows.slice(from, from + SLICE) }
}

async function checked(document: unknown): Promise<StateDocument> {
  // As it was given: the order of names in metadata is the app's own.
  const given = document as StateDocument
  const empty = Object.fromEntries(tableNames.filter(name => Array.isArray(given?.[name])).map(name => [name, []]))
  const isObject = typeof document === 'object' && document !== null && !Array.isArray(document)
  requireGood(isObject ? { ...document, ...empty } : document)
  for (const name of tableNames) {
    for (const { from, rows } of slicesOf<unknown>(given[name])) {
      requireGood({ ...given, ...empty, [name]: rows }, from)
      await othersTurn()
    }
  }
  const rows = { ...given, refresh_tokens: given.refresh_tokens.map(row => ({ ...row, salt: row.salt ?? null })) }
  for (const name of tableNames) await requireUnique(name, rows[name] as unknown as readonly AnyRow[])
  return rows
}

/** Throws for the first thing that is wrong; `from` is the place of the first row in its table. */
function requireGood(document: unknown, from = 0): void {
  const result = check(stateDocument, document, { firstOnly: true, whole: 'The state', secret: isSecret })
  if (!('mistakes' in result)) return
  const { path, sentence } = result.mistakes[0] ?? { path: [], sentence: 'The state is of no form that is known.' }
  const moved: Path = path.map((step, i) => (i === 1 && typeof step === 'number' ? step + from : step))
  throw problem(spoken(moved) + sentence.slice(spoken(path).length))
}

async function requireUnique(name: TableName, rows: readonly AnyRow[]): Promise<void> {
  const { key, unique } = shapeOf(name)
  for (const column of [key, ...unique]) {
    const seen = new Map<unknown, number>()
    for (const [i, { [column]: value }] of rows.entries()) {
      if (i % OF_A_COLUMN === 0) await othersTurn()
      const before = seen.get(value)
      if (before !== undefined) throw problem(`${name}[${i}].${column} must not be that of ${name}[${before}].`)
      if (value !== null) seen.set(value, i)
    }
  }
}

const problem = (sentence: string) => new ProblemsError([{ origin: 'state', sentence }])
