/** A model's answer as it arrives, with its facts. */
import { useState } from 'preact/hooks'
import { Badge, type Tone } from '../widgets/badge.jsx'
import { Button } from '../widgets/button.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Disclosure } from '../widgets/disclosure.jsx'
import { TextArea } from '../widgets/fields.jsx'
import { readable } from '../widgets/json.js'
import { Notice } from '../widgets/states.jsx'
import { AnswerFacts, AnswerSource, adviceFor } from './answer-facts.jsx'
import { goTo } from './at-the-end.js'
import type { ContentCall } from './completion.js'
import { Said, TurnFrame } from './turn-parts.jsx'
import { callsOf, isOver, type ModelAnswer, type AnswerTurn as Turn } from './turns.js'

interface Props {
  readonly turn: Turn
  /** The number of the turn, counted from 1. */
  readonly place: number
  readonly busy: boolean
  readonly onAgain: () => void
  readonly onReworded: (text: string) => void
  readonly onResults: (results: readonly string[]) => void
}

export function AnswerTurn({ turn, place, busy, onAgain, onReworded, onResults }: Props) {
  const { answer, results, by } = turn
  const { text, reasoning, refusal, calls, model } = answer.completion
  const badge = badges[answer.state]
  const again = `Ask for answer ${place} again`
  return (
    <TurnFrame
      kind="answer"
      who={model || 'Model'}
      text={text}
      name={`answer ${place}`}
      busy={!isOver(answer)}
      isEditable={text !== '' && !busy}
      done="Save"
      onReworded={onReworded}
      badge={badge && <Badge tone={badge[0]}>{badge[1]}</Badge>}
      actions={
        <>
          {!busy && <Button tone="bare" icon="roll" aria-label={again} title={again} onClick={onAgain} />}
          {text !== '' && isOver(answer) && <CopyButton text={text} what={`answer ${place}`} bare />}
        </>
      }
      before={
        reasoning !== '' && (
          <Disclosure summary="Reasoning">
            <div class="quiet">
              <Said text={reasoning} />
            </div>
          </Disclosure>
        )
      }
    >
      {refusal !== '' && (
        <p>
          <strong>The model refuses:</strong> {refusal}
        </p>
      )}
      {calls.length > 0 && (
        <ToolCalls
          {...{ calls, results, onResults }}
          isOpen={!busy && results === undefined && callsOf(turn).length > 0}
        />
      )}
      <Trouble answer={answer} />
      {isOver(answer) && answer.request !== '' && (
        <>
          <AnswerFacts answer={answer} by={by} />
          <AnswerSource answer={answer} place={place} />
        </>
      )}
    </TurnFrame>
  )
}

const badges: { readonly [state in ModelAnswer['state']]?: readonly [Tone, string] } = {
  waiting: ['plain', 'Waiting'],
  arriving: ['good', 'Answering'],
  stopped: ['care', 'Stopped'],
  cut: ['danger', 'Cut off'],
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
  readonly results: readonly string[] | undefined
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
      {calls.map(({ id, name, arguments: said }, place) => {
        const sent = results?.[place]
        return (
          <fieldset key={id || place} class="call">
            <legend>
              Calls <code>{name}</code>
            </legend>
            <CallText text={readable(said)} />
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
            {!isOpen && sent !== undefined && (
              <>
                <p class="quiet">Result</p>
                <CallText text={sent} />
              </>
            )}
          </fieldset>
        )
      })}
      {isOpen && (
        <div class="form-buttons row">
          <Button small type="submit" tone="main">
            {calls.length === 1 ? 'Send result' : 'Send results'}
          </Button>
        </div>
      )}
    </form>
  )
}

const CallText = ({ text }: { readonly text: string }) => (
  <pre class="call-arguments as-written">
    <code>{text}</code>
  </pre>
)
