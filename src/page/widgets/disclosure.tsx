/** A line that opens what is below it. */
import type { ComponentChildren } from 'preact'

interface Props {
  readonly summary: ComponentChildren
  /** Quiet words beside the summary. */
  readonly note?: ComponentChildren
  /** Whether it is open at first. */
  readonly open?: boolean
  readonly class?: string
  readonly children: ComponentChildren
}

export function Disclosure({ summary, note, open = false, class: name, children }: Props) {
  return (
    <details class={name ? `fold ${name}` : 'fold'} open={open}>
      <summary>
        {summary} {note !== undefined && <span class="fold-note cut quiet">{note}</span>}
      </summary>
      <div class="fold-content stack">{children}</div>
    </details>
  )
}
