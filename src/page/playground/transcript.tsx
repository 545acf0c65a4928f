/** The turns of a conversation. */
import { CopyButton } from '../widgets/copy-button.jsx'
import { AnswerTurn } from './answer-turn.jsx'
import { goToComposer } from './composer.jsx'
import { askAgain, type Means, reword, tellResults } from './conversation.js'
import { TurnFrame } from './turn-parts.jsx'
import type { Turn } from './turns.js'

interface Props {
  readonly turns: readonly Turn[]
  readonly busy: boolean
  readonly means: Means
  readonly onSay: (text: string, before: number) => void
}

export function Transcript({ turns, busy, means, onSay }: Props) {
  // The pressed button may disappear with the turns after it.
  const then = (act: () => void) => {
    act()
    goToComposer()
  }
  return (
    <ol class="turns stack">
      {turns.map((turn, index) =>
        turn.kind === 'user' ? (
          <UserTurn
            key={turn.id}
            place={index + 1}
            {...{ turn, busy }}
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

interface UserTurnProps {
  readonly turn: Extract<Turn, { kind: 'user' }>
  /** The number of the turn, counted from 1. */
  readonly place: number
  readonly busy: boolean
  readonly onReworded: (text: string) => void
}

/** A user's message. If it is changed, the conversation continues from there. More than text, such as an image, cannot be edited here. */
const UserTurn = ({ turn: { text, message }, place, busy, onReworded }: UserTurnProps) => (
  <TurnFrame
    kind="user"
    who={message === undefined || message.role === 'user' ? 'You' : String(message.role)}
    text={text}
    name={`message ${place}`}
    isEditable={!busy && message === undefined}
    done="Send from here"
    onReworded={onReworded}
    actions={<CopyButton text={text} what={`message ${place}`} bare />}
  />
)
