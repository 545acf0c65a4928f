/** Something that was set going by hand: whether it still runs, and how it failed. */
import { useState } from 'preact/hooks'
import { type Failure, failureOf } from '../failure.js'

export interface Working {
  readonly busy: boolean
  readonly failure: Failure | undefined
  /** Runs `work` unless it runs already; gives back whether it went well. */
  run(work: () => Promise<void>): Promise<boolean>
}

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
