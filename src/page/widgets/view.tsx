/** A view: its heading, what it is for, and what can be done with it as a whole. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface Props {
  readonly title: string
  readonly lead?: ComponentChildren
  readonly action?: ComponentChildren
  readonly narrow?: boolean
  readonly children: ComponentChildren
}

let isFirst = true

/** Brings the keyboard to the heading of the view, where the place that it was at is gone. */
export const goOnFromHeading = () => document.querySelector('h1')?.focus()

export function View({ title, lead, action, narrow = false, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  // Together with what it names, never a moment later.
  useLayoutEffect(() => {
    document.title = `${title} · Standin`
    // Where the browser loads a page it begins at its top; where the page changes itself, this stands in for that.
    if (!isFirst) heading.current?.focus()
    isFirst = false
  }, [title])
  return (
    <div class={narrow ? 'view view-narrow' : 'view'}>
      <header class="view-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead && <p class="lead">{lead}</p>}
        </div>
        {action}
      </header>
      {children}
    </div>
  )
}
