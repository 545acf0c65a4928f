/** A part of a view, named by its heading. */
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface Props {
  readonly title: ComponentChildren
  /** Its name for screen readers, if the heading alone does not say it. */
  readonly label?: string
  readonly heading?: 'h2' | 'h3'
  readonly lead?: ComponentChildren
  readonly action?: ComponentChildren
  readonly children: ComponentChildren
}

export function Section({ title, label, heading: Heading = 'h2', lead, action, children }: Props) {
  const id = useId()
  const head = <Heading id={id}>{title}</Heading>
  return (
    <section aria-label={label} aria-labelledby={label === undefined ? id : undefined}>
      {action ? (
        <div class="row spread">
          {head}
          {action}
        </div>
      ) : (
        head
      )}
      {lead && <p class="quiet">{lead}</p>}
      {children}
    </section>
  )
}
