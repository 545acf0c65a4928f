/** What the model says in answer, as it comes, and everything that is known of it. */
import { Badge, type Tone } from '../widgets/badge.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Notice } from '../widgets/notice.jsx'
import { adviceFor } from './advice.js'
import { type Answer, isOver } from './answer.js'
import { AnswerFacts } from './answer-facts.jsx'
import { AnswerSource } from './answer-source.jsx'
import { EditForm } from './edit-form.jsx'
import { useEditing } from './editing.js'
import { goTo } from './go-to.js'
import { Said } from './said.jsx'
import { ToolCalls } from './tool-calls.jsx'
import { TurnAction, TurnHead } from './turn-head.jsx'
import { callsOf, type AnswerTurn as Turn } from './turns.js'

interface Props {
  readonly turn: Turn
  /** Which turn it is, counted from 1. */
  readonly place: number
  /** Whether a question is on its way, here or elsewhere in the conversation. */
  readonly busy: boolean
  readonly onAgain: () => void
  readonly onReworded: (text: string) => void
  readonly onResults: (results: readonly string[]) => void
}

export function AnswerTurn({ turn, place, busy, onAgain, onReworded, onResults }: Props) {
  const { isEdited, button, begin, end } = useEditing()
  const { answer, results, by } = turn
  const { text, reasoning, refusal, calls, model } = answer.completion
  const isEditable = text !== '' && !isEdited && !busy
  return (
    <li class="turn turn-answer" aria-busy={!isOver(answer)}>
      <TurnHead who={model || 'Model'}>
        <StateBadge answer={answer} />
        {isEditable && <TurnAction icon="edit" label={`Edit answer ${place}`} onAct={begin} button={button} />}
        {!busy && <TurnAction icon="roll" label={`Ask for answer ${place} again`} onAct={onAgain} />}
        {text !== '' && isOver(answer) && <CopyButton text={text} what={`answer ${place}`} bare />}
      </TurnHead>
      {reasoning !== '' && (
        <details class="fold">
          <summary>Reasoning</summary>
          <div class="fold-content quiet">
            <Said text={reasoning} />
          </div>
        </details>
      )}
      {isEdited && (
        <EditForm
          label={`Answer ${place}`}
          text={text}
          done="Save"
          onDone={written => {
            end()
            onReworded(written)
          }}
          onCancel={end}
        />
      )}
      {!isEdited && text !== '' && <Said text={text} />}
      {refusal !== '' && (
        <p>
          <strong>The model refuses:</strong> {refusal}
        </p>
      )}
      {calls.length > 0 && (
        <ToolCalls
          calls={calls}
          results={results}
          isOpen={!busy && results === undefined && callsOf(turn).length > 0}
          onResults={onResults}
        />
      )}
      <Trouble answer={answer} />
      {isOver(answer) && <AnswerFacts answer={answer} by={by} />}
      {isOver(answer) && <AnswerSource answer={answer} place={place} />}
    </li>
  )
}

const badges: { readonly [state in Answer['state']]?: readonly [Tone, string] } = {
  waiting: ['plain', 'Waiting'],
  arriving: ['good', 'Answering'],
  stopped: ['care', 'Stopped'],
  cut: ['danger', 'Cut off'],
}

function StateBadge({ answer: { state } }: { readonly answer: Answer }) {
  const badge = badges[state]
  return badge ? <Badge tone={badge[0]}>{badge[1]}</Badge> : null
}

function Trouble({ answer }: { readonly answer: Answer }) {
  const { state, trouble, status, retryAfter, hadCredential } = answer
  if (trouble === undefined) return null
  const advice = adviceFor(status, hadCredential)
  return (
    <Notice tone="danger">
      <p>
        {state === 'refused' && status !== undefined && <strong>{status} </strong>}
        {trouble}
      </p>
      {retryAfter !== undefined && <p>Retry-After: {retryAfter}</p>}
      {advice && <p>{advice}</p>}
      {status === 401 && (
        <button type="button" class="button button-small" onClick={() => goTo('credential')}>
          Choose a credential
        </button>
      )}
    </Notice>
  )
}
