/** The journal: the only entry point of this part. */
export { entryOf, type JournalBrief, type JournalEntry } from './fields.js'
export type { JournalFilter } from './filter.js'
export { createJournal, type Journal } from './journal.js'
export type { Reader } from './reader.js'
export { ignorableOf, keyFor, repairIds } from './repairable.js'

/** The code that serves the journal over HTTP, loaded with the control API. */
export const loadReader = () => import('./reader.js')
