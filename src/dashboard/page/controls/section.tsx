/** A group of controls, with what the groups have in common. */
import type { ComponentChildren } from 'preact'
import { control } from '../api.js'
import { Badge } from '../widgets/badge.jsx'
import { Button } from '../widgets/button.jsx'
import { useAction } from '../widgets/form.jsx'
import { FailureNote } from '../widgets/states.jsx'

export async function loadControls(signal: AbortSignal) {
  const [mode, choices, { data: waiting }, random, clock] = await Promise.all([
    control('GET /mode', { signal }),
    control('GET /mode/choices', { signal }),
    control('GET /faults', { signal }),
    control('GET /faults/random', { signal }),
    control('GET /clock', { signal }),
  ])
  return { mode, choices, waiting, random, clock }
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
  clock: 'Clock',
} as const

/** The groups that differ from the configuration. */
export function changedIn(controls: Controls): ReadonlySet<keyof typeof sections> {
  const { mode, choices, random, clock } = controls
  const changed: Record<keyof typeof sections, boolean> = {
    mode: JSON.stringify(mode) !== JSON.stringify(choices.configured),
    faults: random.isChanged,
    clock: clock.frozen || clock.offsetMs !== 0,
  }
  return new Set((Object.keys(changed) as (keyof typeof sections)[]).filter(name => changed[name]))
}

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
  const title = sections[id]
  const restoreAll = () => run(() => restore().finally(reload), `${title}: reset to the configuration.`)
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
      {children}
    </section>
  )
}

/** Moves the focus to the group's heading when `work` has succeeded, unless the user has moved it elsewhere. */
export async function focusGroupHeading(button: HTMLElement, work: Promise<boolean>): Promise<void> {
  const heading = button.closest('section')?.querySelector('h2')
  const done = await work
  const isStillHere = document.activeElement === button || document.activeElement === document.body
  if (done && isStillHere) heading?.focus()
}
