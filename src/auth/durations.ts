/** Durations as Go writes them, which is how Supabase takes the length of a ban: `24h`, `1h30m`. */
const unitMs: ReadonlyMap<string, number> = new Map([
  ...(['ns', 'us', '\u00b5s', '\u03bcs', 'ms'] as const).map(
    (unit, i) => [unit, [1e-6, 1e-3, 1e-3, 1e-3, 1][i] ?? 1] as const,
  ),
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
])

/** Go counts nanoseconds in 64 bits. */
const LONGEST_MS = 2 ** 63 / 1e6

/** The duration in milliseconds, or what is wrong with it in Go's words. */
export function durationIn(text: string): { readonly ms: number } | { readonly mistake: string } {
  const quoted = JSON.stringify(text)
  const [, sign = '', rest = ''] = /^([+-]?)(.*)$/s.exec(text) ?? []
  if (rest === '0') return { ms: 0 }
  const parts = [...rest.matchAll(/(\d+\.?\d*|\.\d+)([^\d.]*)/g)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== rest)
    return { mistake: `invalid duration ${quoted}` }
  let ms = 0
  for (const [, count, unit = ''] of parts) {
    const factor = unitMs.get(unit)
    if (unit === '') return { mistake: `missing unit in duration ${quoted}` }
    if (factor === undefined) return { mistake: `unknown unit ${JSON.stringify(unit)} in duration ${quoted}` }
    ms += Number(count) * factor
  }
  if (ms > LONGEST_MS) return { mistake: `invalid duration ${quoted}` }
  return { ms: sign === '-' ? -ms : ms }
}
