/** The clock for everything that expires. */
import type { InputOf } from '../../../control/client.js'
import type { ControlOperations } from '../../../http/operations.js'
import { control } from '../api.js'
import { configHasChanged, timeOn } from '../config.jsx'
import { Badge } from '../widgets/badge.jsx'
import { Button } from '../widgets/button.jsx'
import { useAction } from '../widgets/form.jsx'
import { exactly, useTicks } from '../widgets/moment.jsx'
import { FailureNote } from '../widgets/states.jsx'
import { type ControlProps, ControlSection, type Controls } from './section.jsx'

const MINUTE_MS = 60_000
const clockSteps = [
  ['1 minute', MINUTE_MS],
  ['1 hour', 60 * MINUTE_MS],
  ['1 day', 24 * 60 * MINUTE_MS],
] as const

export function ClockSection({ controls, reload }: ControlProps) {
  const { now, frozen, offsetMs } = controls.clock
  const shown = useShown(controls.clock)
  const isReal = !frozen && offsetMs === 0
  return (
    <ControlSection
      of="clock"
      lead="Tokens, keys, sessions, codes, bans and limits use it. Pace and timeouts do not."
      undo="Back to real time"
      restore={() => control('PUT /clock', { body: { reset: true } })}
      controls={controls}
      reload={reload}
    >
      <p class="control-line row">
        <time dateTime={now}>{exactly(shown)}</time>
        <Badge tone={isReal ? 'good' : 'care'}>{frozen ? 'Frozen' : isReal ? 'Real time' : 'Adjusted'}</Badge>
        {!isReal && <span class="quiet">{awayInWords(offsetMs)}</span>}
      </p>
      <ClockButtons frozen={frozen} reload={reload} />
    </ControlSection>
  )
}

/** The buttons that adjust the clock. */
function ClockButtons({ frozen, reload }: { readonly frozen: boolean; readonly reload: () => void }) {
  const { busy, failure, run } = useAction()
  const adjust = async (body: InputOf<ControlOperations['setClock']>['body'], said: string) => {
    await run(() => control('PUT /clock', { body }), said)
    reload()
    // The signed-in user may need a new token.
    configHasChanged()
  }
  return (
    <>
      <div class="row">
        {clockSteps.map(([words, advanceMs]) => (
          <Button
            key={words}
            aria-disabled={busy}
            onClick={() => adjust({ advanceMs }, `The clock was advanced by ${words}.`)}
          >
            + {words}
          </Button>
        ))}
        <Button
          aria-disabled={busy}
          onClick={() => adjust({ frozen: !frozen }, frozen ? 'The clock runs.' : 'The clock is frozen.')}
        >
          {frozen ? 'Resume' : 'Freeze'}
        </Button>
      </div>
      <FailureNote failure={failure} />
    </>
  )
}

/** The time, updated every second without asking the server. */
function useShown(clock: Controls['clock']): string {
  useTicks(clock.frozen ? undefined : 1000)
  return new Date(timeOn(clock)).toISOString()
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const

/** `2 days and 3 hours ahead of real time`, in the two largest units. */
function awayInWords(offsetMs: number): string {
  let leftMs = Math.round(Math.abs(offsetMs) / 1000) * 1000
  const parts: string[] = []
  for (const [unit, ms] of units) {
    const count = Math.floor(leftMs / ms)
    leftMs -= count * ms
    if (count > 0) parts.push(`${count} ${unit}${count === 1 ? '' : 's'}`)
  }
  if (parts.length === 0) return 'at real time'
  return `${parts.slice(0, 2).join(' and ')} ${offsetMs > 0 ? 'ahead of' : 'behind'} real time`
}
