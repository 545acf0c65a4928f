/** Rows that stay where they are while somebody reads them, and how many have come since. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { BriefJson } from '../../journal-wire.js'
import type { Live } from './use-live.js'

/** What the rows are held for. */
type Reason = 'pressed' | 'reading' | 'away' | 'pointing'

export interface Held {
  /** Those to show: as they were when they were first held. */
  readonly rows: readonly BriefJson[]
  readonly reason: Reason | undefined
  /** How many of those that have come since would be shown. */
  readonly fresh: number
  setPressed(isPressed: boolean): void
  setReading(isReading: boolean): void
  setAway(isAway: boolean): void
  /** Somebody moves the pointer over the rows: what it is about to press must not move away. */
  point(): void
}

/** So long after the pointer has come to rest. */
const POINTED_MS = 1500

export function useHeld({ rows, era }: Pick<Live, 'rows' | 'era'>, fits: (brief: BriefJson) => boolean): Held {
  const [pressed, setPressed] = useState(false)
  const [reading, setReading] = useState(false)
  const [away, setAway] = useState(false)
  const { pointing, point } = usePointing()
  const reason = pressed ? 'pressed' : reading ? 'reading' : away ? 'away' : pointing ? 'pointing' : undefined
  const held = useRef<{ readonly rows: readonly BriefJson[]; readonly era: number } | undefined>(undefined)
  if (reason === undefined || held.current?.era !== era) held.current = undefined
  if (reason !== undefined) held.current ??= { rows, era }
  const base = held.current?.rows ?? rows
  const shown = useMemo(() => base.filter(fits), [base, fits])
  const newest = Number(base[0]?.id ?? 0)
  const fresh = useMemo(() => {
    const known = base === rows ? 0 : rows.findIndex(({ id }) => Number(id) <= newest)
    return rows.slice(0, known < 0 ? rows.length : known).filter(fits).length
  }, [base, rows, newest, fits])
  return { rows: shown, reason, fresh, setPressed, setReading, setAway, point }
}

function usePointing() {
  const [pointing, setPointing] = useState(false)
  const timer = useRef<number | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const point = useCallback(() => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setPointing(false), POINTED_MS)
    setPointing(true)
  }, [])
  return { pointing, point }
}
