/** A time in relative words, with the exact time on hover. */
import { useEffect, useState } from 'preact/hooks'
import { useNow } from '../config.jsx'

const MINUTE_MS = 60_000

const units: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, ms: number])[] = [
  ['year', 365 * 24 * 60 * MINUTE_MS],
  ['month', 30 * 24 * 60 * MINUTE_MS],
  ['day', 24 * 60 * MINUTE_MS],
  ['hour', 60 * MINUTE_MS],
  ['minute', MINUTE_MS],
]

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' })

export const exactly = (at: string) => exact.format(new Date(at))

/** `5 minutes ago`, `in 7 days`, `just now`. */
function spoken(at: string, nowMs: number): string {
  const awayMs = Date.parse(at) - nowMs
  // Half a minute of tolerance, so that a period of seven days that has just begun is not shown as six.
  const [unit, ms] = units.find(([, ms]) => Math.abs(awayMs) + MINUTE_MS / 2 >= ms) ?? []
  return unit === undefined || ms === undefined ? 'just now' : relative.format(Math.round(awayMs / ms), unit)
}

interface Props {
  readonly at: string | null | undefined
  /** Whether it is a time of the real clock, not of Standin's. */
  readonly isReal?: boolean
}

/** Renders the component again every `everyMs`, if given. */
export function useTicks(everyMs: number | undefined): void {
  const [, setTicks] = useState(0)
  useEffect(() => {
    if (everyMs === undefined) return
    const timer = setInterval(() => setTicks(count => count + 1), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
}

/** Shows `never` without a time. */
export function Moment({ at, isReal }: Props) {
  const now = useNow()
  useTicks(MINUTE_MS / 4)
  if (!at) return <>never</>
  return (
    <time dateTime={at} title={exactly(at)}>
      {spoken(at, isReal ? Date.now() : now)}
    </time>
  )
}
