/** Who speaks in a turn, and what can be done with it. */
import type { ComponentChildren, RefObject } from 'preact'
import { Icon, type IconName } from '../widgets/icon.jsx'

interface Props {
  readonly who: string
  readonly children: ComponentChildren
}

export function TurnHead({ who, children }: Props) {
  return (
    <div class="turn-head">
      <h2>{who}</h2>
      <div class="turn-actions">{children}</div>
    </div>
  )
}

interface ActionProps {
  readonly icon: IconName
  readonly label: string
  readonly onAct: () => void
  readonly button?: RefObject<HTMLButtonElement | null>
}

export function TurnAction({ icon, label, onAct, button }: ActionProps) {
  return (
    <button
      ref={button ?? null}
      type="button"
      class="button button-bare"
      aria-label={label}
      title={label}
      onClick={onAct}
    >
      <Icon name={icon} />
    </button>
  )
}
