/** A button, and what all buttons have in common. */
import type { ButtonHTMLAttributes } from 'preact'
import { Icon, type IconName } from './icon.jsx'

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly small?: boolean
  /** What it is among other buttons: the main one, one that takes something away, or one without a frame. */
  readonly tone?: 'main' | 'warns' | 'danger' | 'bare' | undefined
  readonly icon?: IconName
  /** What it acts on, for screen readers: the name of the row that it stands in. */
  readonly about?: string | undefined
  /** Whether what follows it goes to the other end of the row. */
  readonly push?: boolean
}

export function Button({ small = false, tone, icon, about, push = false, children, ...button }: Props) {
  const look = ['button', small && 'button-small', tone && `button-${tone}`, push && 'push']
  return (
    <button type="button" class={look.filter(Boolean).join(' ')} {...button}>
      {icon && <Icon name={icon} />}
      {children}
      {about !== undefined && <span class="unseen"> {about}</span>}
    </button>
  )
}
