/** The turns of a conversation. When the user edits a message, the conversation continues from there. */
import { CopyButton } from '../widgets/copy-button.jsx'
import { AnswerTurn } from './answer-turn.jsx'
import { goToComposer } from './composer.jsx'
import { askAgain, editAnswer, type Sender, sendResults } from './conversation.js'
import { TurnFrame } from './turn-parts.jsx'
import type { Turn } from './turns.js'

interface Props {
  readonly turns: readonly Turn[]
  readonly busy: boolean
  readonly sender: Sender
  readonly onSay: (text: string, before: number) => void
}

export function Transcript({ turns, busy, sender, onSay }: Props) {
  // The pressed button may disappear with the turns that follow.
  const then = (act: () => void) => {
    act()
    goToComposer()
  }
  return (
    <ol class="turns stack">
      {turns.map((turn, index) =>
        turn.kind === 'user' ? (
          <TurnFrame
            key={turn.id}
            kind="user"
            who={turn.message === undefined || turn.message.role === 'user' ? 'You' : String(turn.message.role)}
            text={turn.text}
            name={`message ${index + 1}`}
            // More than text, such as an image, cannot be edited here.
            isEditable={!busy && turn.message === undefined}
            done="Send from here"
            onEdited={text => then(() => onSay(text, turn.id))}
            actions={<CopyButton text={turn.text} what={`message ${index + 1}`} bare />}
          />
        ) : (
          <AnswerTurn
            key={turn.id}
            number={index + 1}
            turn={turn}
            busy={busy}
            onAgain={() => then(() => askAgain(turn.id, sender))}
            onEdited={text => editAnswer(turn.id, text)}
            onResults={results => then(() => sendResults(turn.id, results, sender))}
          />
        ),
      )}
    </ol>
  )
}
