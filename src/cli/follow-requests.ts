/** Follows the requests of a platform in this process, for its log. */
import type { JournalEntry } from '../journal/index.js'
import { loadRedact } from '../platform/taping.js'
import type { Platform } from '../platform.js'
import { type Told, toldOf } from './told.js'

/** `entry` is there when everything is wanted, and the journal has kept it: in a flood it does not. */
type Tell = (told: Told, entry?: JournalEntry) => void

/** What is given back reads anew what is secret; a configuration may have changed that. */
export async function followRequests(platform: Platform, isVerbose: boolean, tell: Tell): Promise<() => Promise<void>> {
  const { journal } = platform
  let redact = await loadRedact(platform.loaded.config)
  journal.follow((exchange, id) => {
    const entry = isVerbose ? journal.get(id) : undefined
    tell(entry ?? toldOf(exchange, redact), entry)
  })
  return async () => {
    redact = await loadRedact(platform.loaded.config)
  }
}

/** What --verbose shows is loaded for it alone. */
export const loadBodyLines = async (isVerbose: boolean) =>
  isVerbose ? (await import('./bodies.js')).bodyLines : undefined
