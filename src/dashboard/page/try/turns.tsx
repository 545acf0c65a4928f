/** The turns of a conversation. An edited message, and an answer that is asked for again, drop what came after. */
import { useState } from 'preact/hooks'
import { type ContentCall, contentOf } from '../../../chat/reader.js'
import { exchangeAt } from '../../routes.js'
import { Link } from '../routing.jsx'
import { Button, CopyButton } from '../widgets/button.jsx'
import { Form, TextArea } from '../widgets/fields.jsx'
import { readable } from '../widgets/json.js'
import { Notice } from '../widgets/states.jsx'
import { Badge, Disclosure, type Tone } from '../widgets/view.jsx'
import { duration } from '../wording.js'
import { isOver, type TriedAnswer, type TriedMessage } from './answer.js'
import type { Turn } from './conversation.js'

interface TurnProps {
  readonly turn: Turn
  readonly isLast: boolean
  readonly busy: boolean
  readonly onEdit: (turn: Turn) => void
  readonly onAgain: (turn: Turn) => void
  readonly onResults: (messages: readonly TriedMessage[]) => void
}

const badges: { readonly [state in TriedAnswer['state']]?: readonly [Tone, string] } = {
  waiting: ['plain', 'Waiting'],
  arriving: ['good', 'Answering'],
  stopped: ['care', 'Stopped'],
  cut: ['danger', 'Cut off'],
}

const names: Readonly<Record<string, string>> = { user: 'You', tool: 'Tool', assistant: 'Model' }

export function TurnItem({ turn, isLast, busy, onEdit, onAgain, onResults }: TurnProps) {
  const { id, message, answer } = turn
  const role = String(message.role)
  const { text, reasoning, refusal, calls } = partsOf(message)
  const badge = answer && badges[answer.state]
  const [icon, act, does] =
    role === 'user' ? (['edit', onEdit, 'Edit message'] as const) : (['roll', onAgain, 'Ask again for answer'] as const)
  const mayAct = !busy && (role === 'assistant' || (role === 'user' && typeof message.content === 'string'))
  return (
    <li class={`turn stack turn-${role}`} aria-busy={answer && !isOver(answer)}>
      <div class="row spread">
        <h2 class="quiet">{answer?.model ?? names[role] ?? role}</h2>
        <div class="row">
          {badge && <Badge tone={badge[0]}>{badge[1]}</Badge>}
          {mayAct && (
            <Button tone="bare" icon={icon} aria-label={`${does} ${id}`} title={does} onClick={() => act(turn)} />
          )}
          {text !== '' && <CopyButton text={text} what={`message ${id}`} bare />}
        </div>
      </div>
      {reasoning !== '' && (
        <Disclosure summary="Reasoning">
          <div class="as-written quiet">{reasoning}</div>
        </Disclosure>
      )}
      {text !== '' && <div class="said as-written long-name">{text}</div>}
      {refusal !== '' && <p>The model refuses: {refusal}</p>}
      {calls.map(call => (
        <pre key={call.id} class="call-arguments as-written">
          <code>
            {call.name} {readable(call.arguments)}
          </code>
        </pre>
      ))}
      {answer && isOver(answer) && <Facts of={answer} />}
      {isLast && !busy && calls.length > 0 && (answer?.state ?? 'whole') === 'whole' && (
        <Results calls={calls} onResults={onResults} />
      )}
    </li>
  )
}

/** The text of a message; content that is more than text as JSON. */
function partsOf(message: TriedMessage) {
  const { content } = message
  const isText = typeof content === 'string' || content === null || content === undefined
  return contentOf({ ...message, content: isText ? content : JSON.stringify(content, null, 2) })
}

/** What went wrong, when the answer came, how long it is, and what answered. */
function Facts({ of: answer }: { readonly of: TriedAnswer }) {
  const { status = 0, problem, retryAfter, firstTokenMs, totalMs, tokens, finishReason, by } = answer
  const facts = [
    status || '',
    firstTokenMs === undefined ? '' : `first token ${duration(firstTokenMs)}`,
    totalMs === undefined ? '' : duration(totalMs),
    tokens && `${tokens} tokens`,
    finishReason,
  ]
  return (
    <>
      {problem !== undefined && (
        <Notice tone="danger">
          <p>{problem}</p>
          {retryAfter !== undefined && <p>Retry-After: {retryAfter}</p>}
          {by?.hint && <p>{by.hint}</p>}
        </Notice>
      )}
      <p class="small quiet">
        {facts.filter(Boolean).join(' · ')}
        {by && ' · '}
        {by && <Link to={exchangeAt(by.id)}>{by.source ?? 'in Activity'}</Link>}
      </p>
    </>
  )
}

interface ResultsProps extends Pick<TurnProps, 'onResults'> {
  readonly calls: readonly ContentCall[]
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
          key={id}
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
