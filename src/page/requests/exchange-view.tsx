/** One exchange: the request, the decision, the answer and the timing. */
import { MOST_PIECES_TIMED } from '../../core/clock.js'
import { routes } from '../../dashboard/routes.js'
import type { JournalEntry } from '../../journal/operations.js'
import { MakeRecording } from '../make/make-recording.jsx'
import { MakeRule } from '../make/make-rule.jsx'
import { CodeBlock } from '../widgets/code-block.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { exactly } from '../widgets/moment.jsx'
import { BodyView, SHOWN, textOf } from './body-view.jsx'
import { turnsAnswered, turnsAsked } from './conversation.js'
import { DecisionView } from './decision-view.jsx'
import type { ExchangeState } from './use-exchange.js'
import { callerName, counted, duration, size } from './wording.js'

export function ExchangeView({ of: { entry, curl, miss } }: { readonly of: ExchangeState }) {
  const { at, scope, request } = entry
  return (
    <>
      <p class="quiet">
        <time dateTime={at}>{exactly(at)}</time>, caller: <bdi>{callerName(entry)}</bdi>
        {scope && (
          <>
            {' '}
            in scope <bdi>{scope}</bdi>
          </>
        )}
      </p>
      <ExchangeActions entry={entry} curl={curl} />
      <DecisionView entry={entry} miss={miss} />
      <section aria-labelledby="asked">
        <h3 id="asked">Request</h3>
        {request.query !== '' && (
          <p class="exchange-query">
            <code>?{request.query}</code>
          </p>
        )}
        <FoldedHeaders headers={request.headers} />
        {request.truncated && <p class="hint">Only the beginning of its {size(request.bytes)} is kept.</p>}
        {request.body === undefined ? (
          <p class="quiet">{request.bytes > 0 ? 'The request body was not kept.' : 'No request body.'}</p>
        ) : (
          <BodyView label="Request body" body={request.body} turns={turnsAsked(request.body)} />
        )}
      </section>
      <Answer title="Answer" answer={entry.response} status={entry.status} />
      {entry.upstream && (
        <Answer
          title="What the platform said"
          answer={entry.upstream}
          status={entry.status}
          hint="This error was not in the documented form: the client got the answer above, made from it."
        />
      )}
      <TimingView entry={entry} />
      <section aria-labelledby="again">
        <h3 id="again">Ask again in the terminal</h3>
        {curl.length <= SHOWN ? (
          <CodeBlock code={curl} label="the command" />
        ) : (
          <p class="hint">The command is {size(curl.length)} long. “Copy as curl” takes all of it.</p>
        )}
      </section>
    </>
  )
}

interface AnswerProps {
  readonly title: string
  readonly answer: NonNullable<JournalEntry['upstream']>
  readonly status: number | null
  readonly hint?: string
}

function Answer({ title, answer: { headers, body, bytes, truncated }, status, hint }: AnswerProps) {
  const id = title.toLowerCase().replaceAll(' ', '-')
  return (
    <section aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      {hint && <p class="hint">{hint}</p>}
      <FoldedHeaders headers={headers} />
      {truncated && <p class="hint">Only the beginning of its {size(bytes)} is kept.</p>}
      {body === undefined ? (
        <p class="quiet">{status === null ? 'No answer has left.' : 'It had no body.'}</p>
      ) : (
        <BodyView label={`${title}: body`} body={body} turns={turnsAnswered(body)} />
      )}
    </section>
  )
}

/** Headers, folded by default. */
function FoldedHeaders({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  const entries = Object.entries(headers)
  if (entries.length === 0) return null
  return (
    <details class="fold headers">
      <summary>{counted(entries.length, 'header')}</summary>
      <dl class="pairs">
        {entries.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

/** Rules only apply to chat completions. */
const CHAT = 'POST /v1/chat/completions'

interface Props {
  readonly entry: JournalEntry
  /** The curl command that repeats the request. */
  readonly curl: string
}

/** The actions for an exchange. */
function ExchangeActions({ entry, curl }: Props) {
  const { id, request, response, endpoint, caller, status } = entry
  const isRefused = caller.kind === 'refused' || status === 401
  return (
    <div class="exchange-actions">
      {endpoint === CHAT && !isRefused && <MakeRule entry={entry} />}
      {endpoint !== null && !isRefused && !endpoint.includes(' /auth/v1/') && <MakeRecording entry={entry} />}
      <CopyButton text={curl} what="as curl" words="Copy as curl" />
      {request.body !== undefined && (
        <CopyButton text={textOf(request.body)} what="request body" words="Copy request body" />
      )}
      {response.body !== undefined && <CopyButton text={textOf(response.body)} what="answer" words="Copy answer" />}
      <CopyButton text={`${location.origin}${routes.requests}?id=${id}`} what="link" words="Copy link" />
    </div>
  )
}

const WIDTH = 1000
const HEIGHT = 40

/** How an answer was sent over time: first byte, pieces and end. */
function TimingView({ entry }: { readonly entry: JournalEntry }) {
  const { firstByteMs, durationMs, request, response } = entry
  const { piecesAtMs } = response
  const facts = [
    ['First byte', firstByteMs === null ? 'none' : duration(firstByteMs)],
    ['In all', duration(durationMs)],
    ['Asked', size(request.bytes)],
    ['Answered', size(response.bytes)],
    ...(piecesAtMs.length > 0 ? [['Pieces', piecesInWords(piecesAtMs)] as const] : []),
  ] as const
  return (
    <section aria-labelledby="timing">
      <h3 id="timing">Time and size</h3>
      <dl class="pairs pairs-short">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {piecesAtMs.length > 1 && <PieceChart firstByteMs={firstByteMs ?? 0} durationMs={durationMs} at={piecesAtMs} />}
    </section>
  )
}

function piecesInWords(at: readonly number[]): string {
  const pauses = at.slice(1).map((ms, i) => ms - (at[i] ?? 0))
  const longest = pauses.reduce((most, ms) => Math.max(most, ms), 0)
  const many = at.length < MOST_PIECES_TIMED ? counted(at.length, 'piece') : 'the first 1,000 are timed'
  return at.length < 2 ? many : `${many}, the longest pause ${duration(longest)}`
}

interface ChartProps {
  readonly firstByteMs: number
  readonly durationMs: number
  readonly at: readonly number[]
}

/** Rises by one step per piece: a straight line is an even stream, a flat part is a pause. */
function PieceChart({ firstByteMs, durationMs, at }: ChartProps) {
  const x = (ms: number) => Math.round(Math.min(1, (firstByteMs + ms) / Math.max(durationMs, 1)) * WIDTH)
  const y = (nth: number) => Number((HEIGHT - (nth / at.length) * (HEIGHT - 2)).toFixed(1))
  const steps = at.map((ms, i) => `H${x(ms)}V${y(i + 1)}`).join('')
  return (
    <div class="plot" aria-hidden="true">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <path class="bar-first" d={`M${x(0)} 0V${HEIGHT}`} />
        <path class="chart-line" d={`M${x(0)} ${HEIGHT}${steps}`} />
      </svg>
      <span class="plot-top">pieces</span>
      <span class="plot-from">0</span>
      <span class="plot-to">{duration(durationMs)}</span>
    </div>
  )
}
