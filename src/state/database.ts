/** What a state needs from the database in which its rows are. */

/** The types of columns that every database has. Booleans are 0 or 1, and JSON is text, which preserves it exactly. */
export type Cell = string | number | null

export type CellRow = Readonly<Record<string, Cell>>

/** Runs a statement, which has a `?` for each value, and returns the rows that it yields. */
export type Query = (sql: string, values?: readonly Cell[]) => Promise<readonly CellRow[]>

/** Why nothing can be read or written at the moment, although the request is valid. */
export interface Trouble {
  /** For clients: a sentence without paths and credentials. */
  readonly sentence: string
  /** For the log: the cause, and what to do. */
  readonly line: string
}

export interface Database {
  /** What precedes the name of a table. */
  readonly schema: string
  /** Whether other processes may change it. */
  readonly isShared: boolean
  /**
   * Runs work in a transaction: reads see one snapshot, and a writer waits for the writers of other processes. If the
   * work fails, nothing has changed, and its error is passed on.
   */
  transaction<T>(kind: 'read' | 'write', work: (query: Query) => Promise<T>): Promise<T>
  /** Called once, when nothing is read or written any more. */
  close(): Promise<void>
  /** What an error says about the database as a whole; `undefined` for other errors. */
  troubleOf(error: unknown): Trouble | undefined
}
