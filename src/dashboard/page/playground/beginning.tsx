/** What stands where nothing has been said yet: something to begin with. */
import { useConfig } from '../config.jsx'
import { Empty } from '../widgets/empty.jsx'

interface Props {
  readonly onSay: (text: string) => void
}

const examples = ['Hello', 'Tell me a story', 'What is the weather in Oslo?'] as const

/** A live model would not know what to make of it. */
const magic = 'standin:error-503'

export function Beginning({ onSay }: Props) {
  const { mode } = useConfig()
  const shown = mode === 'emulate' ? [...examples, magic] : examples
  return (
    <Empty title="Nothing has been said yet">
      <p>Write a message below, or begin with one of these.</p>
      <ul class="examples">
        {shown.map(example => (
          <li key={example}>
            <button type="button" class="button button-small" onClick={() => onSay(example)}>
              {example}
            </button>
          </li>
        ))}
      </ul>
    </Empty>
  )
}
