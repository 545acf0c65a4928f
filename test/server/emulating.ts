/** What the line needs to know where nothing but emulation is asked of it. */
import { createOrigins } from '../../src/core/origins.js'
import { createJournal } from '../../src/journal/index.js'
import { createCors } from '../../src/server/cors.js'
import type { LineParts } from '../../src/server/handle.js'

/** The way to something that is not there. */
export const notHere = () => Promise.reject(new Error('not in this mode'))

export const emulating: Pick<
  LineParts,
  'modeOf' | 'recordings' | 'onMiss' | 'errors' | 'passed' | 'scopeOf' | 'liveCors' | 'origins' | 'heavyPrompt'
> = {
  modeOf: () => 'emulate',
  recordings: notHere,
  onMiss: 'fail',
  errors: 'documented',
  passed: () => {},
  scopeOf: () => '',
  liveCors: createCors(() => false),
  origins: createOrigins({ host: '127.0.0.1', origins: 'auto' }),
  heavyPrompt: () => undefined,
}

/** A journal that nobody looks into. */
export const journalOfAll = () => createJournal({ maxEntries: 1000, maxBytes: 1_000_000, redact: notLooked })

const notLooked = () => {
  throw new Error('nobody looks')
}
