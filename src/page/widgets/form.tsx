/** Forms and buttons that run an action: one at a time, with an error message on failure. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type Failure, failureOf } from '../failure.js'
import { Notice } from './states.jsx'

interface Props {
  /** The label of its button. */
  readonly send: string
  readonly onSend: () => Promise<void>
  /** Buttons beside the submit button. */
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

interface Working {
  readonly busy: boolean
  readonly failure: Failure | undefined
  /** Runs `work` unless it is already running. Returns whether it succeeded. */
  run(work: () => Promise<void>): Promise<boolean>
}

/** An action started by the user: whether it is running, and how it failed. */
export function useWorking(): Working {
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure>()
  const run = async (work: () => Promise<void>) => {
    if (busy) return false
    setBusy(true)
    setFailure(undefined)
    try {
      await work()
      return true
    } catch (thrown) {
      setFailure(failureOf(thrown))
      return false
    } finally {
      setBusy(false)
    }
  }
  return { busy, failure, run }
}
