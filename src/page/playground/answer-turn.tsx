/** A model's answer as it arrives, with its facts. */
import { useState } from 'preact/hooks'
import { Badge, type Tone } from '../widgets/badge.jsx'
import { Button } from '../widgets/button.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Disclosure } from '../widgets/disclosure.jsx'
import { TextArea } from '../widgets/fields.jsx'
import { readable } from '../widgets/json.js'
import { Notice } from '../widgets/states.jsx'
import { isOver, type ModelAnswer } from './answer.js'
import { AnswerFacts, AnswerSource, adviceFor } from './answer-facts.jsx'
import { goTo } from './at-the-end.js'
import type { ContentCall } from './completion.js'
import { EditForm, Said, TurnAction, TurnHead, useEditing } from './turn-parts.jsx'
import { callsOf, type AnswerTurn as Turn } from './turns.js'

interface Props {
  readonly turn: Turn
  /** The number of the turn, counted from 1. */
  readonly place: number
  /** Whether a question is being answered, here or elsewhere in the conversation. */
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
    <li class="turn stack turn-answer" aria-busy={!isOver(answer)}>
      <TurnHead who={model || 'Model'}>
        <StateBadge answer={answer} />
        {isEditable && <TurnAction icon="edit" label={`Edit answer ${place}`} onAct={begin} button={button} />}
        {!busy && <TurnAction icon="roll" label={`Ask for answer ${place} again`} onAct={onAgain} />}
        {text !== '' && isOver(answer) && <CopyButton text={text} what={`answer ${place}`} bare />}
      </TurnHead>
      {reasoning !== '' && (
        <Disclosure summary="Reasoning">
          <div class="quiet">
            <Said text={reasoning} />
          </div>
        </Disclosure>
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
      {isOver(answer) && answer.request !== '' && (
        <>
          <AnswerFacts answer={answer} by={by} />
          <AnswerSource answer={answer} place={place} />
        </>
      )}
    </li>
  )
}

const badges: { readonly [state in ModelAnswer['state']]?: readonly [Tone, string] } = {
  waiting: ['plain', 'Waiting'],
  arriving: ['good', 'Answering'],
  stopped: ['care', 'Stopped'],
  cut: ['danger', 'Cut off'],
}

function StateBadge({ answer: { state } }: { readonly answer: ModelAnswer }) {
  const badge = badges[state]
  return badge ? <Badge tone={badge[0]}>{badge[1]}</Badge> : null
}

function Trouble({ answer }: { readonly answer: ModelAnswer }) {
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
        <Button small onClick={() => goTo('credential')}>
          Choose a credential
        </Button>
      )}
    </Notice>
  )
}

interface ToolCallsProps {
  readonly calls: readonly ContentCall[]
  /** The results that were already sent. */
  readonly results: readonly string[] | undefined
  /** Whether results may be sent now. */
  readonly isOpen: boolean
  readonly onResults: (results: readonly string[]) => void
}

/** The tool calls of an answer, with a field for the result of each. */
function ToolCalls({ calls, results, isOpen, onResults }: ToolCallsProps) {
  const [written, setWritten] = useState<readonly string[]>([])
  const resultOf = (place: number) => written[place] ?? results?.[place] ?? ''
  const submit = (event: Event) => {
    event.preventDefault()
    onResults(calls.map((_call, place) => resultOf(place)))
  }
  const write = (place: number, text: string) =>
    setWritten(calls.map((_call, other) => (other === place ? text : resultOf(other))))
  return (
    <form class="stack" onSubmit={submit}>
      {calls.map(({ id, name, arguments: said }, place) => (
        <fieldset key={id || place} class="call">
          <legend>
            Calls <code>{name}</code>
          </legend>
          <pre class="call-arguments as-written">
            <code>{readable(said)}</code>
          </pre>
          {isOpen && (
            <TextArea
              label={`Result of ${name}`}
              value={resultOf(place)}
              onChange={text => write(place, text)}
              placeholder="What the tool returns: text or JSON"
              rows={2}
              code
            />
          )}
          {!isOpen && results?.[place] !== undefined && (
            <>
              <p class="quiet">Result</p>
              <pre class="call-arguments as-written">
                <code>{results[place]}</code>
              </pre>
            </>
          )}
        </fieldset>
      ))}
      {isOpen && (
        <div class="form-buttons row">
          <button type="submit" class="button button-small button-main">
            {calls.length === 1 ? 'Send result' : 'Send results'}
          </button>
        </div>
      )}
    </form>
  )
}
