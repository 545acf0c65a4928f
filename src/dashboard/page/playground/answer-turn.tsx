/** A model's answer as it arrives, with the facts about it. */
import { useState } from 'preact/hooks'
import { Badge, type Tone } from '../widgets/badge.jsx'
import { Button } from '../widgets/button.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Disclosure } from '../widgets/disclosure.jsx'
import { TextArea } from '../widgets/fields.jsx'
import { Form } from '../widgets/form.jsx'
import { readable } from '../widgets/json.js'
import { Notice } from '../widgets/states.jsx'
import { AnswerFacts, adviceFor } from './answer-facts.jsx'
import { goTo } from './at-the-end.js'
import type { ContentCall } from './completion.js'
import { ModelText, TurnFrame } from './turn-parts.jsx'
import { callsOf, isOver, type ModelAnswer, type AnswerTurn as Turn } from './turns.js'

interface Props {
  readonly turn: Turn
  /** The number of the turn, counted from 1. */
  readonly number: number
  readonly busy: boolean
  readonly onAgain: () => void
  readonly onEdited: (text: string) => void
  readonly onResults: (results: readonly string[]) => void
}

export function AnswerTurn({ turn, number, busy, onAgain, onEdited, onResults }: Props) {
  const { answer, results, by } = turn
  const { text, reasoning, refusal, calls, model } = answer.completion
  const badge = badges[answer.state]
  const again = `Regenerate answer ${number}`
  return (
    <TurnFrame
      kind="answer"
      who={model || 'Model'}
      text={text}
      name={`answer ${number}`}
      busy={!isOver(answer)}
      isEditable={text !== '' && !busy}
      done="Save"
      onEdited={onEdited}
      badge={badge && <Badge tone={badge[0]}>{badge[1]}</Badge>}
      actions={
        <>
          {!busy && <Button tone="bare" icon="roll" aria-label={again} title={again} onClick={onAgain} />}
          {text !== '' && isOver(answer) && <CopyButton text={text} what={`answer ${number}`} bare />}
        </>
      }
      before={
        reasoning !== '' && (
          <Disclosure summary="Reasoning">
            <div class="quiet">
              <ModelText text={reasoning} />
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
          calls={calls}
          results={results}
          onResults={onResults}
          isOpen={!busy && results === undefined && callsOf(turn).length > 0}
        />
      )}
      <Problem answer={answer} />
      {isOver(answer) && answer.request !== '' && <AnswerFacts answer={answer} number={number} by={by} />}
    </TurnFrame>
  )
}

const badges: { readonly [state in ModelAnswer['state']]?: readonly [Tone, string] } = {
  waiting: ['plain', 'Waiting'],
  arriving: ['good', 'Answering'],
  stopped: ['care', 'Stopped'],
  cut: ['danger', 'Cut off'],
}

function Problem({ answer }: { readonly answer: ModelAnswer }) {
  const { state, problem, status, retryAfter, hadCredential } = answer
  if (problem === undefined) return null
  const advice = adviceFor(status, hadCredential)
  return (
    <Notice tone="danger">
      <p>
        {state === 'refused' && status !== undefined && <strong>{status} </strong>}
        {problem}
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
  const [edited, setEdited] = useState<readonly string[]>([])
  const resultOf = (index: number) => edited[index] ?? results?.[index] ?? ''
  const edit = (index: number, text: string) =>
    setEdited(calls.map((_call, other) => (other === index ? text : resultOf(other))))
  const shown = calls.map(({ id, name, arguments: given }, index) => (
    <fieldset key={id || index} class="call">
      <legend>
        Calls <code>{name}</code>
      </legend>
      <CallText text={readable(given)} />
      {isOpen ? (
        <TextArea
          label={`Result of ${name}`}
          value={resultOf(index)}
          onChange={text => edit(index, text)}
          placeholder="What the tool returns: text or JSON"
          rows={2}
          code
        />
      ) : (
        results?.[index] !== undefined && (
          <>
            <p class="quiet">Result</p>
            <CallText text={results[index]} />
          </>
        )
      )}
    </fieldset>
  ))
  if (!isOpen) return <div class="stack">{shown}</div>
  return (
    <Form
      small
      send={calls.length === 1 ? 'Send result' : 'Send results'}
      onSend={async () => onResults(calls.map((_call, index) => resultOf(index)))}
    >
      {shown}
    </Form>
  )
}

const CallText = ({ text }: { readonly text: string }) => (
  <pre class="call-arguments as-written">
    <code>{text}</code>
  </pre>
)
