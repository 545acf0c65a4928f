/** What a listing says when there is nothing in it yet: why, and what to do about it. */
import type { ComponentChildren } from 'preact'

interface Props {
  readonly title: string
  readonly children: ComponentChildren
}

export function Empty({ title, children }: Props) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  )
}
