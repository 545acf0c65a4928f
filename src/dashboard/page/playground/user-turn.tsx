/** What the user said; with other words the conversation goes on from there. */
import { CopyButton } from '../widgets/copy-button.jsx'
import { EditForm } from './edit-form.jsx'
import { useEditing } from './editing.js'
import { Said } from './said.jsx'
import { TurnAction, TurnHead } from './turn-head.jsx'

interface Props {
  readonly text: string
  /** Which turn it is, counted from 1. */
  readonly place: number
  readonly busy: boolean
  readonly onReworded: (text: string) => void
}

export function UserTurn({ text, place, busy, onReworded }: Props) {
  const { isEdited, button, begin, end } = useEditing()
  return (
    <li class="turn turn-user">
      <TurnHead who="You">
        {!isEdited && !busy && <TurnAction icon="edit" label={`Edit message ${place}`} onAct={begin} button={button} />}
        <CopyButton text={text} what={`message ${place}`} bare />
      </TurnHead>
      {isEdited ? (
        <EditForm
          label={`Message ${place}`}
          text={text}
          done="Send from here"
          onDone={written => {
            end()
            onReworded(written)
          }}
          onCancel={end}
        />
      ) : (
        <Said text={text} />
      )}
    </li>
  )
}
