/** A model's answer as it arrives, with its facts. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Badge, type Tone } from '../widgets/badge.jsx'
import { Button } from '../widgets/button.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Disclosure } from '../widgets/disclosure.jsx'
import { TextArea } from '../widgets/fields.jsx'
import { readable } from '../widgets/json.js'
import { Notice } from '../widgets/states.jsx'
import { AnswerFacts, adviceFor } from './answer-facts.jsx'
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
      before={reasoning !== '' && <Reasoning text={reasoning} />}
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
      {isOver(answer) && answer.request !== '' && <AnswerFacts {...{ answer, place, by }} />}
    </TurnFrame>
  )
}

const Reasoning = ({ text }: { readonly text: string }) => (
  <Disclosure summary="Reasoning">
    <div class="quiet">
      <Said text={text} />
    </div>
  </Disclosure>
)

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
      {calls.map((call, place) => (
        <ToolCall key={call.id || place} {...call}>
          {isOpen ? (
            <TextArea
              label={`Result of ${call.name}`}
              value={resultOf(place)}
              onChange={text => write(place, text)}
              placeholder="What the tool returns: text or JSON"
              rows={2}
              code
            />
          ) : (
            <SentResult text={results?.[place]} />
          )}
        </ToolCall>
      ))}
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

type ToolCallProps = ContentCall & { readonly children: ComponentChildren }

const ToolCall = ({ name, arguments: said, children }: ToolCallProps) => (
  <fieldset class="call">
    <legend>
      Calls <code>{name}</code>
    </legend>
    <CallText text={readable(said)} />
    {children}
  </fieldset>
)

function SentResult({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return null
  return (
    <>
      <p class="quiet">Result</p>
      <CallText text={text} />
    </>
  )
}

const CallText = ({ text }: { readonly text: string }) => (
  <pre class="call-arguments as-written">
    <code>{text}</code>
  </pre>
)
