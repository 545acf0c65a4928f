/** What the line needs to know where nothing but emulation is asked of it. */
import type { DecideParts } from '../../src/server/decide.js'

/** The way to something that is not there. */
export const notHere = () => Promise.reject(new Error('not in this mode'))

export const emulating: DecideParts = {
  modeOf: () => 'emulate',
  recordings: notHere,
  onMiss: 'fail',
  passed: () => {},
}
