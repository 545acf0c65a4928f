/** A form that is sent once at a time, and says what went wrong. */
import type { ComponentChildren } from 'preact'
import { Notice } from './notice.jsx'
import { useWorking } from './working.js'

interface Props {
  /** What its button says. */
  readonly send: string
  readonly onSend: () => Promise<void>
  /** Buttons beside the one that sends. */
  readonly beside?: ComponentChildren
  readonly tone?: 'main' | 'danger'
  readonly children?: ComponentChildren
}

export function Form({ send, onSend, beside, tone = 'main', children }: Props) {
  const { busy, failure, run } = useWorking()
  const submit = (event: Event) => {
    event.preventDefault()
    run(onSend)
  }
  return (
    <form onSubmit={submit} aria-busy={busy}>
      {children}
      {failure && <Notice tone="danger">{failure.message}</Notice>}
      <div class="form-buttons">
        {beside}
        <button type="submit" class={`button button-${tone}`} aria-disabled={busy}>
          {send}
        </button>
      </div>
    </form>
  )
}
