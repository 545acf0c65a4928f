/** A summary line that shows and hides the content below it. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

interface Props {
  readonly summary: ComponentChildren
  /** Quiet words beside the summary. */
  readonly note?: ComponentChildren
  readonly open?: boolean
  /** Whether its content is rendered only while it is open. */
  readonly lazy?: boolean
  readonly class?: string
  readonly children: ComponentChildren
}

export function Disclosure({ summary, note, open = false, lazy = false, class: name, children }: Props) {
  const [isOpen, setOpen] = useState(open)
  return (
    <details
      class={name ? `fold ${name}` : 'fold'}
      open={open}
      onToggle={({ currentTarget }) => lazy && setOpen(currentTarget.open)}
    >
      <summary>
        {summary} {note !== undefined && <span class="fold-note cut quiet">{note}</span>}
      </summary>
      {(isOpen || !lazy) && <div class="fold-content stack">{children}</div>}
    </details>
  )
}
