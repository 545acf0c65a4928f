/** The faults that befall requests by chance. */
import type { RandomFault } from '../../../core/fault.js'
import { Notice } from '../widgets/notice.jsx'
import { useWorking } from '../widgets/working.js'
import { faultInWords } from './fault-in-words.js'
import { goOnInGroup } from './go-on.js'
import { percent } from './percent.js'

interface Props {
  readonly faults: readonly RandomFault[]
  readonly onRemove: (index: number) => Promise<void>
}

export function ChanceFaults({ faults, onRemove }: Props) {
  const { failure, run } = useWorking()
  if (faults.length === 0) return null
  return (
    <div class="faults">
      <h3>By chance</h3>
      {failure && <Notice tone="danger">{failure.message}</Notice>}
      <ul class="fault-list">
        {faults.map(({ path, chance, ...fault }, index) => {
          const words = faultInWords(fault)
          return (
            <li key={`${index} ${words}`}>
              <span class="fault-words">{words}</span>
              <span class="quiet">
                {percent(chance)} of requests to {path}
              </span>
              <button
                type="button"
                class="button button-small"
                aria-label={`Remove: ${words}, by chance`}
                onClick={({ currentTarget }) =>
                  goOnInGroup(
                    currentTarget,
                    run(() => onRemove(index)),
                  )
                }
              >
                Remove
              </button>
            </li>
          )
        })}
      </ul>
    </div>
  )
}
