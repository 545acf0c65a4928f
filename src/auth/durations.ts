/** Durations as Go writes them, which is how Supabase takes the length of a ban: `24h`, `1h30m`. */
const unitMs = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const

/** The duration in milliseconds, or `undefined` for what is none. */
export function durationMs(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)
  return [...parts].reduce((sum, [, count, unit]) => sum + Number(count) * unitMs[unit as keyof typeof unitMs], 0)
}
