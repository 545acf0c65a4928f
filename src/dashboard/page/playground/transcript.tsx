/** The turns of a conversation, one below the other. */
import { AnswerTurn } from './answer-turn.jsx'
import { goToComposer } from './composer.jsx'
import { askAgain, type Means, reword, tellResults } from './conversation.js'
import type { Turn } from './turns.js'
import { UserTurn } from './user-turn.jsx'

interface Props {
  readonly turns: readonly Turn[]
  readonly busy: boolean
  readonly means: Means
  readonly onSay: (text: string, before: number) => void
}

export function Transcript({ turns, busy, means, onSay }: Props) {
  // What was pressed may be gone with the turns behind it.
  const then = (act: () => void) => {
    act()
    goToComposer()
  }
  return (
    <ol class="turns">
      {turns.map((turn, index) =>
        turn.kind === 'user' ? (
          <UserTurn
            key={turn.id}
            text={turn.text}
            place={index + 1}
            busy={busy}
            onReworded={text => then(() => onSay(text, turn.id))}
          />
        ) : (
          <AnswerTurn
            key={turn.id}
            place={index + 1}
            {...{ turn, busy }}
            onAgain={() => then(() => askAgain(turn.id, means))}
            onReworded={text => reword(turn.id, text)}
            onResults={results => then(() => tellResults(turn.id, results, means))}
          />
        ),
      )}
    </ol>
  )
}
