/** A link within the page. */
import type { ComponentChildren } from 'preact'
import { navigate } from '../routing.js'

interface Props {
  readonly to: string
  readonly class?: string
  readonly current?: boolean
  readonly reachable?: boolean
  readonly children: ComponentChildren
}

export function Link({ to, current = false, reachable = true, children, class: name }: Props) {
  const follow = (event: MouseEvent) => {
    // These keys open the link in another tab or window.
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    navigate(to)
  }
  return (
    <a
      href={to}
      class={name}
      aria-current={current ? 'page' : undefined}
      tabIndex={reachable ? undefined : -1}
      onClick={follow}
    >
      {children}
    </a>
  )
}
