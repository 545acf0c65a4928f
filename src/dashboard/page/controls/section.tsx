/** A group of controls: what it is, whether it is as the configuration has it, and the way back there. */
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { announce } from '../widgets/announcer.jsx'
import { Badge } from '../widgets/badge.jsx'
import { Notice } from '../widgets/notice.jsx'
import { useWorking } from '../widgets/working.js'
import { goOnInGroup } from './go-on.js'

interface Props {
  readonly title: string
  readonly lead: ComponentChildren
  /** Nothing where no configuration speaks of it. */
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
