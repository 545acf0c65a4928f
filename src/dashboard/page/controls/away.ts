/** How far a clock is from the real time, in words. */

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const

/** `2 days and 3 hours ahead of the real time`; the two largest units are enough. */
export function awayInWords(offsetMs: number): string {
  let leftMs = Math.round(Math.abs(offsetMs) / 1000) * 1000
  const parts: string[] = []
  for (const [unit, ms] of units) {
    const count = Math.floor(leftMs / ms)
    leftMs -= count * ms
    if (count > 0) parts.push(`${count} ${unit}${count === 1 ? '' : 's'}`)
  }
  if (parts.length === 0) return 'at the real time'
  return `${parts.slice(0, 2).join(' and ')} ${offsetMs > 0 ? 'ahead of' : 'behind'} the real time`
}
