/** A button, and what all buttons have in common. */
import type { ButtonHTMLAttributes } from 'preact'
import { Icon, type IconName } from './icon.jsx'

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly small?: boolean
  /** Its role: the main button, one that leads to a deletion, one that deletes, or one without a frame. */
  readonly tone?: 'main' | 'warns' | 'danger' | 'bare' | undefined
  readonly icon?: IconName
  /** What it acts on, for screen readers, such as the name of its row. */
  readonly about?: string | undefined
  /** Whether it pushes the buttons after it to the other end of the row. */
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
