/** The state as a document: export, import, and its text. */
import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { check, closed, type Path, pathInWords } from '../check/check.js'
import { ProblemsError } from '../check/problem.js'
import { closingQuote, isObject, jsonText, requireModestJson } from '../core/json.js'
import { type Rows, rowSchemas, type State, type TableName, type Tables } from '../core/state.js'
import { inSlices, nextTurn, type Sliced } from '../core/work.js'
import { type AnyRow, type AnyTable, forEachTable, shapeOf, withDigests } from './shapes.js'

/** Changes when earlier documents can no longer be read. */
const VERSION = 1

const list = <N extends TableName>(name: N) => v.array(rowSchemas[name], 'a list of rows')

export const stateDocument = closed({
  version: v.literal(VERSION, `${VERSION}, the version that this Standin reads and writes`),
  users: list('users'),
  sessions: list('sessions'),
  refresh_tokens: list('refresh_tokens'),
  one_time_tokens: list('one_time_tokens'),
  flow_states: list('flow_states'),
  api_keys: list('api_keys'),
  messages: list('messages'),
  // Documents of earlier versions have no resources.
  resources: v.optional(list('resources'), []),
  resource_rows: v.optional(list('resource_rows'), []),
})

/**
 * All tables with their rows, newest first. Passwords, keys, refresh tokens and one-time tokens are included as hashes.
 * The outbox contains codes and links in clear, as a mailbox would. Refresh tokens, links and auth codes in clear, as
 * earlier versions exported them, can still be imported.
 */
export type StateDocument = { readonly version: typeof VERSION } & {
  readonly [N in TableName]: readonly Rows[N][]
}

/** A document with these rows. */
export const documentOf = (rows: Omit<StateDocument, 'version'>): StateDocument => ({ version: VERSION, ...rows })

const tableNames = Object.keys(forEachTable(() => undefined)) as TableName[]

const anyTable = (tables: Tables, name: TableName) => tables[name] as unknown as AnyTable

/** Returns all rows as of one moment. */
export function exportState(state: State): Promise<StateDocument> {
  return state.read(async tables => {
    const rows = forEachTable((): readonly AnyRow[] => [])
    for (const name of tableNames) rows[name] = await anyTable(tables, name).find({})
    return documentOf(rows as unknown as StateDocument)
  })
}

/**
 * Replaces all rows with those of a document. If it is invalid, changes nothing and rejects with a ProblemsError that
 * names the row and the field.
 */
export async function importState(state: State, document: unknown): Promise<void> {
  const rows = await validRows(document)
  await state.write(tables => replaceRows(tables, rows))
}

/** Replaces the rows of each table with those of a valid document. Returns whether anything changed. */
export async function replaceRows(tables: Tables, rows: StateDocument): Promise<boolean> {
  let isChanged = false
  for (const name of tableNames) {
    const table = anyTable(tables, name)
    if (isDeepStrictEqual(await table.find({}), rows[name])) continue
    isChanged = true
    await table.remove({})
    // Oldest first, in the order in which they were created.
    for (const slice of slicesOf<unknown>(rows[name].toReversed())) {
      for (const row of slice.rows) await table.insert(withDigests(name, row as AnyRow))
      await nextTurn()
    }
  }
  return isChanged
}

const emptyResources: Pick<StateDocument, 'resources' | 'resource_rows'> = { resources: [], resource_rows: [] }

/** Values that an error message must not repeat. */
const isSecret = (path: readonly unknown[]) =>
  /^(encrypted_password|token|token_hash|auth_code|code|link)$/.test(String(path.at(-1)))

/** Rows that are checked and inserted before other requests get their turn. */
const CHECKED_ROWS = 100

/** Values that are compared before other requests get their turn. */
const COMPARED_VALUES = 10_000

function* slicesOf<T>(rows: readonly T[]): Generator<{ readonly from: number; readonly rows: readonly T[] }> {
  for (let from = 0; from < rows.length; from += CHECKED_ROWS)
    yield { from, rows: rows.slice(from, from + CHECKED_ROWS) }
}

async function validRows(document: unknown): Promise<StateDocument> {
  // Returns the original document, not the checked copy, because metadata must keep the order of its keys.
  const given: StateDocument = { ...emptyResources, ...(document as StateDocument) }
  const empty = Object.fromEntries(tableNames.filter(name => Array.isArray(given?.[name])).map(name => [name, []]))
  requireValid(isObject(document) ? { ...document, ...empty } : document)
  for (const name of tableNames) {
    for (const { from, rows } of slicesOf<unknown>(given[name])) {
      requireValid({ ...given, ...empty, [name]: rows }, from)
      await nextTurn()
    }
  }
  const rows = { ...given, refresh_tokens: given.refresh_tokens.map(row => ({ ...row, salt: row.salt ?? null })) }
  for (const name of tableNames) await requireUnique(name, rows[name] as unknown as readonly AnyRow[])
  return rows
}

/** Throws for the first mistake. `from` is the position of the first row in its table. */
function requireValid(document: unknown, from = 0): void {
  const result = check(stateDocument, document, { firstOnly: true, whole: 'The state', secret: isSecret })
  if (!('mistakes' in result)) return
  const { path, sentence } = result.mistakes[0] ?? { path: [], sentence: 'The state document has an unknown format.' }
  const shiftedPath: Path = path.map((step, i) => (i === 1 && typeof step === 'number' ? step + from : step))
  throw problem(pathInWords(shiftedPath) + sentence.slice(pathInWords(path).length))
}

async function requireUnique(name: TableName, rows: readonly AnyRow[]): Promise<void> {
  const { key, unique } = shapeOf(name)
  for (const column of [key, ...unique]) {
    const firstIndexes = new Map<unknown, number>()
    for (const [i, { [column]: value }] of rows.entries()) {
      if (i % COMPARED_VALUES === 0) await nextTurn()
      const firstIndex = firstIndexes.get(value)
      if (firstIndex !== undefined) throw problem(`${name}[${i}].${column} must not be that of ${name}[${firstIndex}].`)
      if (value !== null) firstIndexes.set(value, i)
    }
  }
}

const problem = (sentence: string) => new ProblemsError([{ origin: 'state', sentence }])

const [QUOTE, COMMA] = [0x22, 0x2c]
/** Rows that are parsed or written before other requests get their turn. */
const GROUP_ROWS = 100
/** The same limit for long rows, in bytes. */
const GROUP_BYTES = 65_536

/**
 * Parses an object of lists as JSON.parse does. Rejects with a SyntaxError for invalid JSON, and with a 400 for a row
 * with too many values or levels.
 */
export const parseDocument = (body: Buffer): Promise<unknown> => inSlices(parseInSlices(body))

/** The JSON of a document, in pieces. */
export function* documentText(document: object): Generator<string> {
  yield '{'
  for (const [i, [name, value]] of Object.entries(document).entries()) {
    yield `${i === 0 ? '' : ','}${JSON.stringify(name)}:`
    if (Array.isArray(value)) yield* listText(value)
    else yield JSON.stringify(value)
  }
  yield '}'
}

function* listText(rows: readonly unknown[]): Generator<string> {
  for (let from = 0; from < rows.length; from += GROUP_ROWS) {
    yield (from === 0 ? '[' : ',') + JSON.stringify(rows.slice(from, from + GROUP_ROWS)).slice(1, -1)
  }
  yield rows.length === 0 ? '[]' : ']'
}

/** Scans the bytes in one loop with local variables: a call per byte would double the time. */
function* parseInSlices(body: Buffer): Sliced<unknown> {
  const lists = new Lists(body)
  let level = 0
  let nextPause = GROUP_BYTES
  for (let i = 0; i < body.length; i++) {
    if (i > nextPause) {
      nextPause = i + GROUP_BYTES
      yield
    }
    switch (body[i]) {
      case QUOTE:
        i = closingQuote(body, i + 1)
        break
      case COMMA:
        if (level === 2 && lists.endRow(i)) yield
        break
      case 0x5b: // [
        if (++level === 2) lists.begin(i)
        break
      case 0x7b: // {
        level++
        break
      case 0x5d: // ]
        if (--level === 1) lists.end(i)
        break
      case 0x7d: // }
        level--
    }
  }
  return lists.document()
}

/**
 * Cuts the rows of each list out of the text and parses them in groups. The outline is what remains: a small object in
 * which each list contains only its number. Once it is parsed, each list gets its rows.
 */
class Lists {
  private readonly lists: unknown[][] = []
  /** The text outside of lists. */
  private readonly outside: string[] = []
  private outsideFrom = 0
  /** Where the current group of rows begins; negative outside of lists. */
  private groupFrom = -1
  private groupRows = 0

  constructor(private readonly body: Buffer) {}

  begin(at: number): void {
    if (this.groupFrom >= 0) return
    this.outside.push(`${this.body.toString('utf8', this.outsideFrom, at + 1)}${this.lists.length}`)
    this.lists.push([])
    this.groupFrom = at + 1
  }

  /** Returns whether a group was parsed. */
  endRow(at: number): boolean {
    if (this.groupFrom < 0 || (++this.groupRows < GROUP_ROWS && at - this.groupFrom <= GROUP_BYTES)) return false
    this.endGroup(at)
    return true
  }

  end(at: number): void {
    if (this.groupFrom < 0) return
    this.endGroup(at)
    this.groupFrom = -1
    this.outsideFrom = at
  }

  document(): unknown {
    this.outside.push(this.body.toString('utf8', this.outsideFrom))
    const outline = Buffer.from(this.outside.join(''))
    requireModestJson(outline)
    return withLists(JSON.parse(jsonText(outline)), this.lists)
  }

  private endGroup(end: number): void {
    const list = this.lists.at(-1) ?? []
    const text = this.body.subarray(this.groupFrom, end)
    requireModestJson(text)
    const group = JSON.parse(`[${text}]`) as readonly unknown[]
    if (group.length === 0 && list.length > 0) throw new SyntaxError('Unexpected comma at the end of a list')
    list.push(...group)
    this.groupFrom = end + 1
    this.groupRows = 0
  }
}

/** Replaces the numbers in the outline with their lists. */
function withLists(outline: unknown, lists: readonly unknown[][]): unknown {
  if (!isObject(outline)) return outline
  return Object.fromEntries(
    Object.entries(outline).map(([name, value]) => [name, Array.isArray(value) ? lists[value[0] as number] : value]),
  )
}
