/** Forms and buttons that run something: one run at a time, and what went wrong. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type Failure, failureOf } from '../failure.js'
import { Notice } from './states.jsx'

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

interface Working {
  readonly busy: boolean
  readonly failure: Failure | undefined
  /** Runs `work` unless it runs already; gives back whether it went well. */
  run(work: () => Promise<void>): Promise<boolean>
}

/** Something that was set going by hand: whether it still runs, and how it failed. */
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
