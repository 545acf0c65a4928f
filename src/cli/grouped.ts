/** Puts together what belongs together, in the order in which it comes (Map.groupBy, which Node 20 does not have). */
export function groupedBy<T>(items: Iterable<T>, by: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(by(item))
    if (group) group.push(item)
    else groups.set(by(item), [item])
  }
  return groups
}
