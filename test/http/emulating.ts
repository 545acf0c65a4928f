import { createJournal } from '../../src/journal/index.js'

/** A loader of something that is missing. */
export const notHere = () => Promise.reject(new Error('not in this mode'))

/** A journal that tests may follow, but not read: nothing is redacted. */
export const journalOfAll = () => createJournal({ maxEntries: 1000, maxBytes: 1_000_000, redact: notRead })

const notRead = () => {
  throw new Error('no test reads this')
}
