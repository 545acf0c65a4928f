/** A group of controls, with what the groups have in common. */
import { type ComponentChildren, createContext } from 'preact'
import { useState } from 'preact/hooks'
import { control } from '../api.js'
import { Badge } from '../widgets/badge.jsx'
import { Button } from '../widgets/button.jsx'
import { useAction } from '../widgets/form.jsx'
import { FailureNote } from '../widgets/states.jsx'

export async function loadControls(signal: AbortSignal) {
  const [mode, choices, { data: waiting }, random, pace, limits, clock] = await Promise.all([
    control('GET /mode', { signal }),
    control('GET /mode/choices', { signal }),
    control('GET /faults', { signal }),
    control('GET /faults/random', { signal }),
    control('GET /pace', { signal }),
    control('GET /limits', { signal }),
    control('GET /clock', { signal }),
  ])
  return { mode, choices, waiting, random, pace, limits, clock }
}

export type Controls = Awaited<ReturnType<typeof loadControls>>

export interface ControlProps {
  readonly controls: Controls
  readonly reload: () => void
}

/** The groups with their titles. Links lead to their ids. */
export const sections = {
  mode: 'Where answers come from',
  faults: 'Faults',
  pace: 'Pace',
  limits: 'Limits',
  clock: 'Clock',
} as const

/** The groups that differ from the configuration. */
export function changedIn(controls: Controls): ReadonlySet<keyof typeof sections> {
  const { mode, choices, random, pace, limits, clock } = controls
  const changed: Record<keyof typeof sections, boolean> = {
    mode: JSON.stringify(mode) !== JSON.stringify(choices.configured),
    ...{ faults: random.isChanged, pace: pace.isChanged, limits: limits.isChanged },
    clock: clock.frozen || clock.offsetMs !== 0,
  }
  return new Set((Object.keys(changed) as (keyof typeof sections)[]).filter(name => changed[name]))
}

/** How often the surrounding group was reset to the configuration. */
export const Restored = createContext(0)

interface Props extends ControlProps {
  readonly of: keyof typeof sections
  readonly lead: ComponentChildren
  readonly undo?: string
  restore(): Promise<unknown>
  readonly children: ComponentChildren
}

export function ControlSection({ of: id, lead, restore, controls, reload, children, ...more }: Props) {
  const { undo = 'Back to the configuration' } = more
  const { busy, failure, run } = useAction()
  const [restored, setRestored] = useState(0)
  const title = sections[id]
  const restoreNow = async () => {
    await restore().finally(reload)
    setRestored(count => count + 1)
  }
  const restoreAll = () => run(restoreNow, `${title}: reset to the configuration.`)
  return (
    <section class="control" aria-labelledby={id}>
      <div class="control-head row">
        <h2 id={id} tabIndex={-1}>
          {title}
        </h2>
        {changedIn(controls).has(id) && (
          <>
            <Badge tone="care">Changed</Badge>
            <Button
              small
              aria-label={`${title}: ${undo.charAt(0).toLowerCase()}${undo.slice(1)}`}
              aria-disabled={busy}
              onClick={({ currentTarget }) => focusGroupHeading(currentTarget, restoreAll())}
            >
              {undo}
            </Button>
          </>
        )}
        <p class="quiet">{lead}</p>
      </div>
      <FailureNote failure={failure} />
      <Restored.Provider value={restored}>{children}</Restored.Provider>
    </section>
  )
}

interface PresetsProps<Value> {
  readonly legend: string
  /** Whether the legend is visible to screen readers only. */
  readonly bare?: boolean
  readonly of: readonly (readonly [name: string, value: Value])[]
  readonly isChosen?: (value: Value) => boolean
  readonly onChoose: (value: Value) => void
}

/** Buttons for common values. */
export const Presets = <Value,>({ legend, bare = false, of, isChosen, onChoose }: PresetsProps<Value>) => (
  <fieldset class="row">
    <legend class={bare ? 'unseen' : undefined}>{legend}</legend>
    {of.map(([name, value]) => (
      <Button small key={name} aria-pressed={isChosen?.(value)} onClick={() => onChoose(value)}>
        {name}
      </Button>
    ))}
  </fieldset>
)

/** Moves the focus to the group's heading when `work` has succeeded, unless the user has moved it elsewhere. */
export async function focusGroupHeading(button: HTMLElement, work: Promise<boolean>): Promise<void> {
  const heading = button.closest('section')?.querySelector('h2')
  const done = await work
  const isStillHere = document.activeElement === button || document.activeElement === document.body
  if (done && isStillHere) heading?.focus()
}
