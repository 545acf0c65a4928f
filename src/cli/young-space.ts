/** Keeps V8's space for new objects at a size that suits a server with a journal. A separate file, since it is there for speed alone. */

/** Both halves of the space together: as much as a server without a journal uses. */
const ENOUGH_BYTES = 8_388_608
const INTERVAL_MS = 250

/**
 * Lets the space for new objects grow to 8 MB, and not much further. V8 doubles it whenever as much has survived as it holds. The exchanges
 * of a journal all survive for a while, so it would grow to 64 MB; and in a small one, V8 would look after them for a fifth of the time.
 */
export function limitYoungSpace(): void {
  setInterval(() => {
    // Not loaded before the port is open.
    const { getHeapSpaceStatistics, setFlagsFromString } = process.getBuiltinModule('node:v8')
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
    setFlagsFromString(`--semi-space-growth-factor=${(young?.space_size ?? 0) < ENOUGH_BYTES ? 2 : 1}`)
  }, INTERVAL_MS).unref()
}
