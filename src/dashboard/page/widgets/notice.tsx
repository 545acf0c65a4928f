/** A sentence that stands out: something went wrong, needs care, or went well. */
import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.jsx'

type Tone = 'danger' | 'care' | 'good'

const icons: Record<Tone, IconName> = { danger: 'alert', care: 'alert', good: 'check' }

interface Props {
  readonly tone: Tone
  readonly children: ComponentChildren
}

export function Notice({ tone, children }: Props) {
  return (
    <div class={`notice notice-${tone}`} role={tone === 'good' ? undefined : 'alert'}>
      <Icon name={icons[tone]} />
      <div>{children}</div>
    </div>
  )
}
