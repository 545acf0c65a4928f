/** What is wrong with rules, asked a moment after somebody has typed. */
import { useEffect, useState } from 'preact/hooks'
import type { MakeClient, Problem } from './make-client.js'

const SETTLE_MS = 250

export function useProblems({ check }: MakeClient, yaml: string): readonly Problem[] {
  const [problems, setProblems] = useState<readonly Problem[]>([])
  useEffect(() => {
    const leaving = new AbortController()
    const timer = setTimeout(() => {
      if (yaml.trim() === '') return setProblems([{ line: 1, column: 1, sentence: 'There is no rule here.' }])
      check(yaml, leaving.signal).then(
        found => leaving.signal.aborted || setProblems(found),
        // Trying and keeping say what is wrong as well, in a place of their own.
        () => {},
      )
    }, SETTLE_MS)
    return () => {
      clearTimeout(timer)
      leaving.abort()
    }
  }, [check, yaml])
  return problems
}
