/** Works on many things, a few of them at the same time. */

/** More are not worked on at once: each may hold a file open. */
const AT_ONCE = 32

/** What `work` makes of each, in the order of the items. */
export async function eachOf<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = []
  const waiting = items.entries()
  const worker = async () => {
    for (const [i, item] of waiting) results[i] = await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return results
}
