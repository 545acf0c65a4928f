/** The turns of a conversation. An edited message, and an answer that is asked for again, drop what came after. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type ContentCall, contentOf } from '../../../chat/reader.js'
import { exchangeAt } from '../../routes.js'
import { Badge, type Tone } from '../widgets/badge.jsx'
import { Button } from '../widgets/button.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Disclosure } from '../widgets/disclosure.jsx'
import { TextArea } from '../widgets/fields.jsx'
import { Form } from '../widgets/form.jsx'
import { readable } from '../widgets/json.js'
import { Link } from '../widgets/link.jsx'
import { Notice } from '../widgets/states.jsx'
import { duration } from '../wording.js'
import { type Answer, isOver } from './answer.js'
import type { Message, Turn } from './conversation.js'

interface Props {
  readonly turns: readonly Turn[]
  readonly busy: boolean
  readonly onEdit: (turn: Turn) => void
  readonly onAgain: (turn: Turn) => void
  readonly onResults: (messages: readonly Message[]) => void
}

export function Turns({ turns, busy, onEdit, onAgain, onResults }: Props) {
  return (
    <ol class="turns stack">
      {turns.map((turn, index) => (
        <li
          key={turn.id}
          class={`turn stack turn-${turn.message.role}`}
          aria-busy={turn.answer && !isOver(turn.answer)}
        >
          {turn.message.role === 'assistant' ? (
            <AnswerTurn
              turn={turn}
              number={index + 1}
              onAgain={busy ? undefined : () => onAgain(turn)}
              onResults={!busy && index === turns.length - 1 ? onResults : undefined}
            />
          ) : (
            <Said turn={turn} number={index + 1} onEdit={busy ? undefined : () => onEdit(turn)} />
          )}
        </li>
      ))}
    </ol>
  )
}

interface HeadProps {
  readonly who: string
  readonly children: ComponentChildren
}

const Head = ({ who, children }: HeadProps) => (
  <div class="turn-head row spread">
    <h2 class="quiet">{who}</h2>
    <div class="row">{children}</div>
  </div>
)

interface TurnProps {
  readonly turn: Turn
  /** Counted from 1. */
  readonly number: number
}

/** A message of the user, or the result of a tool. */
function Said({ turn: { message }, number, onEdit }: TurnProps & { readonly onEdit: (() => void) | undefined }) {
  const { role, content } = message
  const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2)
  const edit = `Edit message ${number}`
  return (
    <>
      <Head who={role === 'user' ? 'You' : role === 'tool' ? 'Tool' : String(role)}>
        {role === 'user' && typeof content === 'string' && onEdit && (
          <Button tone="bare" icon="edit" aria-label={edit} title={edit} onClick={onEdit} />
        )}
        <CopyButton text={text} what={`message ${number}`} bare />
      </Head>
      <div class="said as-written">{text}</div>
    </>
  )
}

const badges: { readonly [state in Answer['state']]?: readonly [Tone, string] } = {
  waiting: ['plain', 'Waiting'],
  arriving: ['good', 'Answering'],
  stopped: ['care', 'Stopped'],
  cut: ['danger', 'Cut off'],
}

interface AnswerProps extends TurnProps {
  readonly onAgain: (() => void) | undefined
  readonly onResults: Props['onResults'] | undefined
}

function AnswerTurn({ turn: { message, answer }, number, onAgain, onResults }: AnswerProps) {
  const { text, reasoning, refusal, calls } = contentOf(message)
  const badge = answer && badges[answer.state]
  const again = `Ask again for answer ${number}`
  return (
    <>
      <Head who={answer?.model ?? 'Model'}>
        {badge && <Badge tone={badge[0]}>{badge[1]}</Badge>}
        {onAgain && <Button tone="bare" icon="roll" aria-label={again} title={again} onClick={onAgain} />}
        {text !== '' && <CopyButton text={text} what={`answer ${number}`} bare />}
      </Head>
      {reasoning !== '' && (
        <Disclosure summary="Reasoning">
          <div class="as-written quiet">{reasoning}</div>
        </Disclosure>
      )}
      {text !== '' && <div class="said as-written">{text}</div>}
      {refusal !== '' && (
        <p>
          <strong>The model refuses:</strong> {refusal}
        </p>
      )}
      {calls.map((call, i) => (
        <pre key={call.id || i} class="call-arguments as-written">
          <code>
            {call.name} {readable(call.arguments)}
          </code>
        </pre>
      ))}
      {answer?.problem !== undefined && <Problem answer={answer} />}
      {answer && isOver(answer) && <Facts answer={answer} />}
      {calls.length > 0 && answer?.state === 'whole' && onResults && <Results calls={calls} onResults={onResults} />}
    </>
  )
}

function Problem({ answer: { status, problem, retryAfter, by } }: { readonly answer: Answer }) {
  return (
    <Notice tone="danger">
      <p>
        {status !== undefined && status >= 400 && <strong>{status} </strong>}
        {problem}
      </p>
      {retryAfter !== undefined && <p>Retry-After: {retryAfter}</p>}
      {by?.hint && <p>{by.hint}</p>}
    </Notice>
  )
}

/** When it came, how long it is, and what answered. */
function Facts({ answer: { status, firstTokenMs, totalMs, tokens, finishReason, by } }: { readonly answer: Answer }) {
  const facts = [
    status,
    firstTokenMs !== undefined && `first token ${duration(firstTokenMs)}`,
    totalMs !== undefined && duration(totalMs),
    tokens && `${tokens} tokens`,
    finishReason,
  ]
  return (
    <p class="small quiet">
      {facts.filter(Boolean).join(' · ')}
      {by && (
        <>
          {' · '}
          <Link to={exchangeAt(by.id)}>{by.source ?? 'the exchange'}</Link>
        </>
      )}
    </p>
  )
}

interface ResultsProps {
  readonly calls: readonly ContentCall[]
  readonly onResults: Props['onResults']
}

/** A field for the result of each tool call. */
function Results({ calls, onResults }: ResultsProps) {
  const [results, setResults] = useState<readonly string[]>(calls.map(() => ''))
  const send = async () =>
    onResults(calls.map(({ id }, i) => ({ role: 'tool', tool_call_id: id, content: results[i] ?? '' })))
  return (
    <Form small send={calls.length === 1 ? 'Send result' : 'Send results'} onSend={send}>
      {calls.map(({ id, name }, i) => (
        <TextArea
          key={id || i}
          label={`Result of ${name}`}
          value={results[i] ?? ''}
          onChange={text => setResults(results.with(i, text))}
          placeholder="What the tool returns: text or JSON"
          rows={2}
          code
        />
      ))}
    </Form>
  )
}
