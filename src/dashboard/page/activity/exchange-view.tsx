/** The parts of an exchange: why it got its answer, the conversation, its time, and everything as it was sent. */
import type { ComponentChildren } from 'preact'
import { MOST_TIMED_PIECES } from '../../../core/clock.js'
import type { JournalEntry } from '../../../journal/operations.js'
import { messagesAt } from '../../routes.js'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Disclosure } from '../widgets/disclosure.jsx'
import { Link } from '../widgets/link.jsx'
import { exactly } from '../widgets/moment.jsx'
import { Pairs } from '../widgets/pairs.jsx'
import { Section } from '../widgets/view.jsx'
import { callerName, count, counted, duration, size } from '../wording.js'
import { Conversation, LongText, textOf } from './body-view.jsx'
import { parametersIn, toolsIn, turnsAnswered, turnsAsked } from './conversation.js'
import { DecisionView } from './decision-view.jsx'

export function ExchangeView({ entry }: { readonly entry: JournalEntry }) {
  const { request, response, upstream } = entry
  const turns = [...turnsAsked(request.body), ...turnsAnswered(response.body)]
  return (
    <>
      <DecisionView entry={entry} />
      {turns.length > 0 && (
        <Section heading="h3" title="Conversation">
          <Conversation turns={turns} />
        </Section>
      )}
      <Pairs
        of={[
          ['Caller', <bdi key="caller">{callerName(entry)}</bdi>],
          ['Scope', entry.scope],
          ['Endpoint', entry.endpoint ?? 'No endpoint has this path and method.'],
          ['Mode', entry.mode],
          [
            'Message',
            entry.message && <Link to={messagesAt({ message: entry.message })}>the message that it sent</Link>,
          ],
          ...parametersIn(request.body),
          ['Tools offered', toolsIn(request.body).join(', ')],
        ]}
      />
      <TimingView entry={entry} />
      <Body title="Request" of={request} isOpen={turns.length === 0}>
        <code>
          {request.method} {request.path}
          {request.query && `?${request.query}`}
        </code>
      </Body>
      <Body title="Response" of={response} isOpen={turns.length === 0} />
      {upstream && <Body title="Answer of the live platform" of={upstream} isOpen={false} />}
    </>
  )
}

interface BodyProps {
  readonly title: string
  readonly of: Pick<NonNullable<JournalEntry['upstream']>, 'headers' | 'body' | 'bytes' | 'truncated'>
  readonly isOpen: boolean
  readonly children?: ComponentChildren
}

/** A body and its headers, as they were sent. */
function Body({ title, of: { headers, body, bytes, truncated }, isOpen, children }: BodyProps) {
  const named = Object.entries(headers)
  return (
    <Disclosure summary={title} note={`${size(bytes)}, ${counted(named.length, 'header')}`} open={isOpen}>
      {children}
      {body !== undefined && (
        <>
          <LongText label={`${title} body`} text={textOf(body)} />
          <CopyButton text={textOf(body)} what={`${title.toLowerCase()} body`} />
        </>
      )}
      {truncated && <p class="hint quiet">Only the beginning of this body is kept.</p>}
      <Pairs of={named} />
    </Disclosure>
  )
}

const WIDTH = 1000
const HEIGHT = 40

/** When the head, the first token and the pieces were sent: a line that is straight for an even stream, and flat during a pause. */
function TimingView({ entry }: { readonly entry: JournalEntry }) {
  const { at, firstByteMs, firstTokenMs, durationMs, tokens, response } = entry
  const { piecesAtMs } = response
  const x = (ms: number) => Math.round(Math.min(1, ((firstByteMs ?? 0) + ms) / Math.max(durationMs, 1)) * WIDTH)
  const y = (nth: number) => Number((HEIGHT - (nth / piecesAtMs.length) * (HEIGHT - 2)).toFixed(1))
  const steps = piecesAtMs.map((ms, i) => `H${x(ms)}V${y(i + 1)}`).join('')
  const longestMs = piecesAtMs.reduce((most, ms, i) => Math.max(most, ms - (piecesAtMs[i - 1] ?? 0)), 0)
  const many =
    piecesAtMs.length < MOST_TIMED_PIECES
      ? counted(piecesAtMs.length, 'piece')
      : `the first ${count(MOST_TIMED_PIECES)} pieces`
  return (
    <Section heading="h3" title="Timing">
      {piecesAtMs.length > 1 && (
        <svg class="plot" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          <path class="ink" stroke-width="1.5" d={`M${x(0)} 0V${HEIGHT}`} />
          <path class="accent" stroke-width="2" d={`M${x(0)} ${HEIGHT}${steps}`} />
        </svg>
      )}
      <p class="quiet">
        <time dateTime={at}>{exactly(at)}</time>
        {firstByteMs !== null && ` · headers after ${duration(firstByteMs)}`}
        {firstTokenMs !== null && ` · first token after ${duration(firstTokenMs)}`}
        {piecesAtMs.length > 1 && ` · ${many}, the longest pause ${duration(longestMs)}`}
        {` · ${duration(durationMs)}`}
        {tokens && ` · ${count(tokens.prompt)} + ${count(tokens.completion)} tokens`}
      </p>
    </Section>
  )
}
