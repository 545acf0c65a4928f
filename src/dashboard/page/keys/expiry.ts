/** How long a key shall work: what can be chosen, and the moment that it means. */

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Choices with a length, and two without. */
export const choices = [
  { id: 'never', name: 'Never' },
  { id: 'hour', name: 'In 1 hour', ms: HOUR_MS },
  { id: 'week', name: 'In 7 days', ms: 7 * DAY_MS },
  { id: 'month', name: 'In 30 days', ms: 30 * DAY_MS },
  { id: 'quarter', name: 'In 90 days', ms: 90 * DAY_MS },
  { id: 'date', name: 'On a date…' },
] as const

export interface Expiry {
  readonly choice: (typeof choices)[number]['id']
  /** The chosen day as `YYYY-MM-DD`, for the choice of a date. */
  readonly day: string
}

/** When a key with this expiry stops; null when never. A day counts to its end, where whoever chooses it is. */
export function momentOf({ choice, day }: Expiry, nowMs: number): string | null {
  if (choice === 'date') return new Date(`${day}T23:59:59`).toISOString()
  const chosen = choices.find(({ id }) => id === choice)
  return chosen && 'ms' in chosen ? new Date(nowMs + chosen.ms).toISOString() : null
}

/** A day as `YYYY-MM-DD`, in the time zone of whoever looks at it. */
export function dayOf(date: Date): string {
  const two = (part: number) => String(part).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
