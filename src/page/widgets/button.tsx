/** A button that does something on the page. Forms have their own for sending. */
import type { ButtonHTMLAttributes } from 'preact'

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly small?: boolean
  /** What it is among other buttons: the main one, one that takes something away, or one without a frame. */
  readonly tone?: 'main' | 'warns' | 'bare'
  /** Whether what follows it goes to the other end of the row. */
  readonly push?: boolean
}

export function Button({ small = false, tone, push = false, ...button }: Props) {
  const look = ['button', small && 'button-small', tone && `button-${tone}`, push && 'push']
  return <button type="button" class={look.filter(Boolean).join(' ')} {...button} />
}
