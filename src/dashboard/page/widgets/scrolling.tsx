/** Holds what may be wider than the page; it scrolls by itself, and can be reached with the keyboard. */
import type { ComponentChildren } from 'preact'

interface Props {
  readonly label: string
  readonly children: ComponentChildren
}

export function Scrolling({ label, children }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it nobody scrolls this with a keyboard
    <section class="scrolling" aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}
