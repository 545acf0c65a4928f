/** The line of faults that wait for requests. */
import { Notice } from '../widgets/notice.jsx'
import { useWorking } from '../widgets/working.js'
import type { WaitingFaultJson } from './controls-client.js'
import { faultInWords, meantInWords } from './fault-in-words.js'
import { goOnInGroup } from './go-on.js'
import { percent } from './percent.js'

interface Props {
  readonly waiting: readonly WaitingFaultJson[]
  readonly onRemove: (id: string) => Promise<void>
  readonly onClear: () => Promise<void>
}

export function WaitingFaults({ waiting, onRemove, onClear }: Props) {
  const { failure, run } = useWorking()
  if (waiting.length === 0) return <p class="quiet">No fault waits for a request.</p>
  return (
    <div class="faults">
      <div class="faults-head">
        <h3>Waiting, the first in line first</h3>
        {waiting.length > 1 && (
          <button
            type="button"
            class="button button-small"
            onClick={({ currentTarget }) => goOnInGroup(currentTarget, run(onClear))}
          >
            Remove all
          </button>
        )}
      </div>
      {failure && <Notice tone="danger">{failure.message}</Notice>}
      <ol class="fault-list">
        {waiting.map(({ id, fault, times, ...meant }) => {
          const words = faultInWords(fault)
          return (
            <li key={id}>
              <span class="fault-words">{words}</span>
              <span class="quiet">
                {times === 1 ? 'the next request' : `the next ${times} requests`}: {meantInWords(meant)}
                {fault.chance !== undefined && `, at ${percent(fault.chance)}`}
              </span>
              <button
                type="button"
                class="button button-small"
                aria-label={`Remove: ${words}`}
                onClick={({ currentTarget }) =>
                  goOnInGroup(
                    currentTarget,
                    run(() => onRemove(id)),
                  )
                }
              >
                Remove
              </button>
            </li>
          )
        })}
      </ol>
    </div>
  )
}
