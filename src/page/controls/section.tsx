/** A group of controls: its purpose, whether it differs from the configuration, and a button that restores it. */
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { announce } from '../widgets/announcer.jsx'
import { Badge } from '../widgets/badge.jsx'
import { useWorking } from '../widgets/form.jsx'
import { Notice } from '../widgets/states.jsx'
import type { Controls, ControlsClient } from './controls-client.js'

interface Props {
  readonly title: string
  readonly lead: ComponentChildren
  /** Undefined if the group has no counterpart in the configuration. */
  readonly state?: { readonly isChanged: boolean; restore(): Promise<void> }
  readonly children: ComponentChildren
}

export function Section({ title, lead, state, children }: Props) {
  const id = useId()
  const { busy, failure, run } = useWorking()
  const restore = async () => {
    const done = state !== undefined && (await run(state.restore))
    if (done) announce(`${title}: as the configuration has it.`)
    return done
  }
  return (
    <section class="control" aria-labelledby={id}>
      <div class="control-head">
        <h2 id={id} tabIndex={-1}>
          {title}
        </h2>
        {state && (
          <Badge tone={state.isChanged ? 'care' : 'plain'}>{state.isChanged ? 'Changed' : 'As configured'}</Badge>
        )}
        {state?.isChanged && (
          <button
            type="button"
            class="button button-small control-restore"
            aria-label={`${title}: back to the configuration`}
            aria-disabled={busy}
            onClick={({ currentTarget }) => goOnInGroup(currentTarget, restore())}
          >
            Back to the configuration
          </button>
        )}
        <p class="quiet">{lead}</p>
      </div>
      {failure && <Notice tone="danger">{failure.message}</Notice>}
      {children}
    </section>
  )
}

/** The props of each group of controls. */
export interface ControlProps {
  readonly controls: Controls
  readonly client: ControlsClient
  /** Reloads all settings. */
  readonly reload: () => void
}

/** Moves the focus to the heading of the group once `work` is done, unless the user has moved it elsewhere. */
export async function goOnInGroup(button: HTMLElement, work: Promise<boolean>): Promise<void> {
  const heading = button.closest('section')?.querySelector('h2')
  const done = await work
  const isStillHere = document.activeElement === button || document.activeElement === document.body
  if (done && isStillHere) heading?.focus()
}
