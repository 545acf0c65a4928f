/** A button that opens a native popover below it. */
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { Icon } from './icon.jsx'

interface Props {
  /** What the button shows. */
  readonly label: ComponentChildren
  /** Its name for screen readers, if the label does not say it. */
  readonly name: string
  readonly class: string
  /** Rendered only while it is open. */
  readonly children: ComponentChildren
}

export function Popover({ label, name, class: look, children }: Props) {
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" class={look} popoverTarget={id} aria-label={name} aria-expanded={isOpen}>
        {label}
        <Icon name="chevron" />
      </button>
      <section
        id={id}
        popover="auto"
        aria-label={name}
        class="menu stack"
        // Before it is shown, so that it is complete when it is measured.
        onBeforeToggle={event => setOpen(event.newState === 'open')}
      >
        {isOpen && children}
      </section>
    </>
  )
}
