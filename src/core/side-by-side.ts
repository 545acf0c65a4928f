/** Shows of two long texts the places where they part. */

/** So much stands before the first letter that differs: enough to know where one is. */
const BEFORE = 16

/** Both texts, cut to `width` characters or a few more where one is longer than that. */
export function sideBySide(one: string, other: string, width: number): readonly [string, string] {
  if (Math.max(one.length, other.length) <= width) return [one, other]
  let same = 0
  while (same < one.length && one[same] === other[same]) same++
  const start = Math.max(0, same - BEFORE)
  const shown = (text: string) => {
    const cut = text.slice(start, start + width)
    return `${start > 0 ? '…' : ''}${cut}${start + width < text.length ? '…' : ''}`
  }
  return [shown(one), shown(other)]
}
