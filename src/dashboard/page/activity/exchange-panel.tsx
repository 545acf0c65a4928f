/** One exchange in full, beside the list or in its place: first what was said, last how large it was. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { MOST_TIMED_PIECES } from '../../../core/clock.js'
import { type AppliedFault, appliedFaultInWords, sourceInWords } from '../../../core/reply.js'
import type { JournalBrief, JournalEntry } from '../../../journal/operations.js'
import { messagesAt, recordingAt, ruleAt } from '../../routes.js'
import { control } from '../api.js'
import { EditorLink } from '../editor-link.jsx'
import { Link } from '../routing.jsx'
import { useAction } from '../widgets/action.js'
import { Button, CopyButton, Popover } from '../widgets/button.jsx'
import { exactly } from '../widgets/moment.jsx'
import { useOnce, useResource } from '../widgets/resource.js'
import { FailureNote, Notice, Shown } from '../widgets/states.jsx'
import { Disclosure, Pairs, Section, StatusBadge } from '../widgets/view.jsx'
import { callerName, count, counted, duration, size } from '../wording.js'
import { sendAgain } from './addresses.js'
import {
  BodyView,
  Conversation,
  LongText,
  parametersIn,
  textOf,
  toolsIn,
  turnsAnswered,
  turnsAsked,
} from './conversation.jsx'
import { openRepair, RepairNote, Repairs } from './repairs.jsx'
import { reasonOf, subjectOf } from './words.js'

export interface ExchangePanelProps {
  readonly id: string
  /** The exchange as the list knows it, in case the journal has dropped it. */
  readonly brief: JournalBrief | undefined
  /** How many messages the step before it in its run had, if there is one. */
  readonly messagesBefore: string | undefined
  readonly onClose: () => void
}

export function ExchangePanel({ id, brief, messagesBefore, onClose }: ExchangePanelProps) {
  const loaded = useResource(signal => control('GET /journal/{id}', { id, query: { whole: true }, signal }), [id])
  const { value, failure } = loaded
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => heading.current?.focus(), [id])
  return (
    <aside class="exchange stack" aria-labelledby="exchange">
      <header class="row spread">
        <h2 id="exchange" ref={heading} tabIndex={-1} class="grow cut">
          <bdi>{brief ? subjectOf(brief) : (value?.request.path ?? `Request ${id}`)}</bdi>
        </h2>
        <span class="row">
          <StatusBadge status={(value ?? brief)?.status ?? null} />
          <span class="quiet">{duration((value ?? brief)?.durationMs ?? 0)}</span>
          <Button small onClick={onClose}>
            Close
          </Button>
        </span>
      </header>
      {failure?.status === 404 ? (
        <Notice tone="care">
          <p>{failure.message}</p>
          {brief && <p>{reasonOf(brief)}</p>}
        </Notice>
      ) : (
        <Shown of={loaded}>
          {entry => (
            <>
              <DecisionView entry={entry} />
              {brief && <Repairs of={{ ...brief, repairs: brief.repairs.filter(({ id }) => id !== 'answer') }} />}
              <Actions of={entry} />
              <RepairNote id={id} />
              <ExchangeView entry={entry} messagesBefore={messagesBefore} />
            </>
          )}
        </Shown>
      )}
    </aside>
  )
}

/** Only what works for this exchange. */
function Actions({ of: { id, request, response, repeatable, status } }: { readonly of: JournalEntry }) {
  const { busy, failure, run } = useAction()
  return (
    <>
      <div class="row">
        {repeatable && (
          <Button small aria-disabled={busy} onClick={() => run(() => sendAgain(id), 'The request was sent again.')}>
            Send again
          </Button>
        )}
        {repeatable && request.body !== undefined && (
          <Button small aria-disabled={busy} onClick={() => run(() => openRepair(id, 'edit'))}>
            Edit and send
          </Button>
        )}
        <Button small aria-disabled={busy} onClick={() => run(() => openRepair(id, 'answer'))}>
          Answer
        </Button>
        <CopyForm id={id} form="curl" what="as curl" />
        {status !== null && <CopyForm id={id} form="test" what="as test" />}
        <Popover class="button button-small" name="Copy" label="Copy">
          <div class="row">
            <CopyForm id={id} form="rule" what="as rule" />
            {request.body !== undefined && (
              <CopyButton text={textOf(request.body)} what="request body" words="request" />
            )}
            {response.body !== undefined && (
              <CopyButton text={textOf(response.body)} what="response body" words="response" />
            )}
          </div>
        </Popover>
      </div>
      <FailureNote failure={failure} />
    </>
  )
}

interface CopyFormProps {
  readonly id: string
  readonly form: 'curl' | 'test' | 'rule'
  readonly what: string
}

const CopyForm = ({ id, form, what }: CopyFormProps) => (
  <CopyButton text={() => control('GET /journal/{id}/{form}', { id, form })} what={what} words={what} />
)

interface ExchangeViewProps {
  readonly entry: JournalEntry
  readonly messagesBefore?: string | undefined
}

function ExchangeView({ entry, messagesBefore }: ExchangeViewProps) {
  const { request, response, upstream } = entry
  const asked = turnsAsked(request.body)
  const turns = [...asked, ...turnsAnswered(response.body)]
  const known = useMessages(messagesBefore)
  return (
    <>
      {turns.length > 0 && (
        <Section heading="h3" title="Conversation">
          <Conversation turns={turns} known={known < asked.length ? known : 0} />
        </Section>
      )}
      <Pairs of={factsOf(entry)} />
      <TimingView entry={entry} />
      {entry.sql && (
        <Disclosure summary="SQL" note={`as ${entry.sql.role}`} open>
          <LongText label="SQL" text={entry.sql.text} />
        </Disclosure>
      )}
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

const factsOf = (entry: JournalEntry) =>
  [
    ['Caller', <bdi key="caller">{callerName(entry)}</bdi>],
    ['Scope', entry.scope],
    ['Endpoint', entry.endpoint ?? 'No endpoint has this path and method.'],
    ['Mode', entry.mode],
    ['Message', entry.message && <Link to={messagesAt({ message: entry.message })}>the message that it sent</Link>],
    ...parametersIn(entry.request.body),
    ['Tools offered', toolsIn(entry.request.body).join(', ')],
  ] as const

/** How many messages an exchange asked with; 0 until it is known, and without one. */
function useMessages(id: string | undefined): number {
  const [known, setKnown] = useState(0)
  const load =
    id === undefined
      ? undefined
      : (signal: AbortSignal) => control('GET /journal/{id}', { id, query: { whole: true }, signal })
  useOnce({ load, take: ({ request }) => setKnown(turnsAsked(request.body).length), failed: () => {} }, [id])
  return known
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
      {body !== undefined && <BodyView label={`${title} body`} body={body} />}
      {truncated && <p class="hint quiet">Only the beginning of this body is kept.</p>}
      <Pairs of={named} />
    </Disclosure>
  )
}

/** When the head and the first token were sent, and how evenly the pieces came. */
function TimingView({ entry }: { readonly entry: JournalEntry }) {
  const { at, firstByteMs, firstTokenMs, durationMs, tokens, response } = entry
  const { piecesAtMs } = response
  const longestMs = piecesAtMs.reduce((most, ms, i) => Math.max(most, ms - (piecesAtMs[i - 1] ?? 0)), 0)
  const many =
    piecesAtMs.length < MOST_TIMED_PIECES
      ? counted(piecesAtMs.length, 'piece')
      : `the first ${count(MOST_TIMED_PIECES)} pieces`
  return (
    <p class="quiet">
      <time dateTime={at}>{exactly(at)}</time>
      {firstByteMs !== null && ` · headers after ${duration(firstByteMs)}`}
      {firstTokenMs !== null && ` · first token after ${duration(firstTokenMs)}`}
      {piecesAtMs.length > 1 && ` · ${many}, the longest pause ${duration(longestMs)}`}
      {` · ${duration(durationMs)}`}
      {tokens && ` · ${count(tokens.prompt)} + ${count(tokens.completion)} tokens`}
    </p>
  )
}

/** Why an exchange got its answer: what went wrong and what to do, what answered, and what nearly did. */
function DecisionView({ entry }: { readonly entry: JournalEntry }) {
  const { remark, nearest, fault, status } = entry
  const isFailure = (status ?? 500) >= 400
  const sentences = sentencesOn(entry)
  return (
    <>
      {sentences.length > 0 && (
        <Notice tone={(status ?? 500) >= 500 ? 'danger' : 'care'}>
          {sentences.map(sentence => (
            <p key={sentence}>{sentence}</p>
          ))}
        </Notice>
      )}
      <Pairs
        of={[
          ['Answered by', (entry.answeredBy || !fault?.happened) && <Origin key="origin" entry={entry} />],
          ['Fault', fault?.happened ? appliedFaultInWords(fault as AppliedFault) : null],
          [entry.sql ? 'Rows' : isFailure ? 'Message' : 'Nearest rule', remark],
          ['Nearest', nearest && <Link to={recordingAt(nearest.file)}>{nearest.file}</Link>],
          ...(nearest?.differences ?? []).map(
            ({ field, asked = 'absent', recorded = 'absent' }) =>
              [
                field,
                <span key={field} class="as-written">
                  <code>{asked}</code>, recorded <code>{recorded}</code>
                </span>,
              ] as const,
          ),
        ]}
      />
    </>
  )
}

/** What went wrong, and what to do. An error may say that itself. */
const sentencesOn = (entry: JournalEntry): readonly string[] =>
  [
    entry.advice === null ? entry.error : entry.error?.replace(entry.advice, ''),
    entry.hint,
    entry.openaiRefuses && `OpenAI refuses this with 400: ${entry.openaiRefuses}`,
    !entry.complete && endingOf(entry),
    ...entry.violations.map(({ path, sentence, severity, source }) => `${path} ${sentence} (${severity}, ${source})`),
    entry.advice && `→ ${entry.advice}`,
  ].filter(sentence => typeof sentence === 'string')

function endingOf({ fault, status, answeredBy }: JournalEntry): string {
  const what = status === null ? 'No response was sent' : 'The response was cut off'
  if (fault?.happened) return `${what} because of a fault.`
  if (status === null) return `${what}: the client disconnected first.`
  return answeredBy?.kind === 'live'
    ? 'The client or the live platform closed the connection before the end of the response.'
    : 'The client disconnected before the end of the response.'
}

/** What answered, with links to it. */
function Origin({ entry: { answeredBy, source, request, error } }: { readonly entry: JournalEntry }) {
  if (!answeredBy) return <>{source ?? (error === null ? 'Standin' : 'Standin, with an error')}</>
  const words = sourceInWords(answeredBy)
  switch (answeredBy.kind) {
    case 'rule':
      return (
        <>
          <Link to={ruleAt(answeredBy)}>{words}</Link> <EditorLink of="rules" place={answeredBy.place} />
        </>
      )
    case 'recording':
      return (
        <>
          <Link to={recordingAt(answeredBy.file)}>{words}</Link> <EditorLink of="recordings" place={answeredBy.file} />
        </>
      )
    case 'live': {
      const { baseUrl, recordedAs } = answeredBy
      return (
        <>
          the live platform {baseUrl && <code>{baseUrl + request.path}</code>}{' '}
          {recordedAs && <Link to={recordingAt(recordedAs)}>{words}</Link>}
        </>
      )
    }
    default:
      return <>{words}</>
  }
}
