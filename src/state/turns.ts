/** Lets one piece of work begin only when the one before it is over. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve()
  return work => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }
}
