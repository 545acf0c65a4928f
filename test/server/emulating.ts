/** What the line needs to know where nothing but emulation is asked of it. */
import { createJournal } from '../../src/journal/index.js'
import type { LineParts } from '../../src/server/handle.js'

/** The way to something that is not there. */
export const notHere = () => Promise.reject(new Error('not in this mode'))

export const emulating: Pick<LineParts, 'modeOf' | 'recordings' | 'onMiss' | 'passed' | 'scopeOf'> = {
  modeOf: () => 'emulate',
  recordings: notHere,
  onMiss: 'fail',
  passed: () => {},
  scopeOf: () => '',
}

/** A journal that nobody looks into. */
export const journalOfAll = () => createJournal({ maxEntries: 1000, maxBytes: 1_000_000, redact: notLooked })

const notLooked = () => {
  throw new Error('nobody looks')
}
