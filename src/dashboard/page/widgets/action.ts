/** Actions that the user starts: one at a time, with the failure where it belongs. */
import { useState } from 'preact/hooks'
import { type Failure, failureOf } from '../api.js'
import { announce } from './shared.js'

/** An action started by the user: whether it is running, and how it failed. */
export function useAction() {
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure>()
  /** Runs `work` unless it is already running, and announces `said` once it has succeeded. Returns whether it has. */
  const run = async (work: () => Promise<unknown>, said?: string) => {
    if (busy) return false
    setBusy(true)
    setFailure(undefined)
    try {
      await work()
      if (said !== undefined) announce(said)
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
