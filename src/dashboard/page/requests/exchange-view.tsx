/** One exchange: why it got its response, its times, the request and the response. */
import { MOST_TIMED_PIECES } from '../../../core/clock.js'
import type { JournalEntry } from '../../../journal/operations.js'
import { control } from '../api.js'
import { CodeBlock } from '../widgets/code-block.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Disclosure } from '../widgets/disclosure.jsx'
import { exactly } from '../widgets/moment.jsx'
import { type Fact, Pairs } from '../widgets/pairs.jsx'
import { Section } from '../widgets/view.jsx'
import { callerName, count, counted, duration, size } from '../wording.js'
import { BodyView, SHOWN, textOf } from './body-view.jsx'
import { type ChatTurn, parametersIn, toolsIn, turnsAnswered, turnsAsked } from './conversation.js'
import { DecisionView } from './decision-view.jsx'
import { ExchangeActions } from './exchange-actions.jsx'

export async function loadExchange(id: string, signal: AbortSignal) {
  const [entry, curl] = await Promise.all([
    control('GET /journal/{id}', { id, signal }),
    control('GET /journal/{id}/curl', { id, signal }),
  ])
  return { entry, curl }
}

type ExchangeState = Awaited<ReturnType<typeof loadExchange>>

export function ExchangeView({ entry, curl }: ExchangeState) {
  const { request, response, upstream } = entry
  const answered = turnsAnswered(response.body)
  return (
    <>
      <p class="quiet">
        <time dateTime={entry.at}>{exactly(entry.at)}</time>, caller: <bdi>{callerName(entry)}</bdi>
        {entry.scope && (
          <>
            {' '}
            in scope <bdi>{entry.scope}</bdi>
          </>
        )}
      </p>
      <ExchangeActions entry={entry} curl={curl} />
      <DecisionView entry={entry} />
      <TimingView entry={entry} />
      <Content
        title="Request"
        of={request}
        turns={turnsAsked(request.body)}
        none={request.bytes > 0 ? 'The request body was not kept.' : 'No request body.'}
        facts={[
          ...(request.query === '' ? [] : [['Query', <code key="query">?{request.query}</code>] as const]),
          ...parametersIn(request.body),
          ['Tools offered', toolsIn(request.body).join(', ')],
        ]}
      />
      <Content
        title="Response"
        of={response}
        turns={answered}
        none={entry.status === null ? 'No response was sent.' : 'No response body.'}
        facts={[['Tools called', calledIn(answered)]]}
      />
      {upstream && (
        <Content
          title="Response from the live platform"
          of={upstream}
          turns={turnsAnswered(upstream.body)}
          none="No response body."
          hint="This error was not in the documented format. The client got the response above, which was made from it."
        />
      )}
      <Section heading="h3" title="The same request in a terminal">
        {curl.length <= SHOWN ? (
          <CodeBlock code={curl} label="the command" />
        ) : (
          <p class="hint quiet">The command is {size(curl.length)} long. “Copy as curl” copies all of it.</p>
        )}
      </Section>
    </>
  )
}

const calledIn = (turns: readonly ChatTurn[]) => turns.flatMap(({ calls }) => calls.map(({ name }) => name)).join(', ')

interface ContentProps {
  readonly title: string
  readonly of: Pick<NonNullable<JournalEntry['upstream']>, 'headers' | 'body' | 'bytes' | 'truncated'>
  readonly turns: readonly ChatTurn[]
  /** Shown if there is no body. */
  readonly none: string
  readonly hint?: string
  readonly facts?: readonly Fact[]
}

function Content({ title, of: { headers, body, bytes, truncated }, turns, none, hint, facts = [] }: ContentProps) {
  const named = Object.entries(headers)
  const copy = body !== undefined && <CopyButton text={textOf(body)} what={`${title.toLowerCase()} body`} />
  return (
    <Section heading="h3" title={title} action={copy}>
      {hint && <p class="hint quiet">{hint}</p>}
      <Pairs of={facts} />
      {named.length > 0 && (
        <Disclosure summary={counted(named.length, 'header')} class="headers">
          <Pairs of={named} />
        </Disclosure>
      )}
      {truncated && body !== undefined && (
        <p class="hint quiet">Only the start of this body is kept. It had {size(bytes)}.</p>
      )}
      {body === undefined ? (
        <p class="quiet">{none}</p>
      ) : (
        <BodyView label={`${title} body`} body={body} turns={turns} />
      )}
    </Section>
  )
}

const WIDTH = 1000
const HEIGHT = 40

/** When each part of the response was sent: headers, first token, pieces and end. */
function TimingView({ entry }: { readonly entry: JournalEntry }) {
  const { firstByteMs, firstTokenMs, durationMs, tokens, request, response } = entry
  const { piecesAtMs } = response
  const ms = (value: number | null) => (value === null ? null : duration(value))
  return (
    <Section heading="h3" title="Time and size">
      <Pairs
        class="pairs pairs-short"
        of={[
          ['Headers', ms(firstByteMs) ?? 'none sent'],
          ['First token', ms(firstTokenMs)],
          [firstTokenMs === null ? 'Total' : 'Last, total', duration(durationMs)],
          ['Tokens', tokens && `${count(tokens.prompt)} prompt, ${count(tokens.completion)} completion`],
          ['Request size', size(request.bytes)],
          ['Response size', size(response.bytes)],
          ['Pieces', piecesAtMs.length > 0 && piecesInWords(piecesAtMs)],
        ]}
      />
      {piecesAtMs.length > 1 && <PieceChart of={entry} />}
    </Section>
  )
}

function piecesInWords(at: readonly number[]): string {
  const pauses = at.slice(1).map((ms, i) => ms - (at[i] ?? 0))
  const longest = pauses.reduce((most, ms) => Math.max(most, ms), 0)
  const many =
    at.length < MOST_TIMED_PIECES ? counted(at.length, 'piece') : `the first ${count(MOST_TIMED_PIECES)} were timed`
  return at.length < 2 ? many : `${many}, the longest pause ${duration(longest)}`
}

/** A line that rises with each piece: it is straight for an even stream, and flat during a pause. */
function PieceChart({ of: { firstByteMs, durationMs, response } }: { readonly of: JournalEntry }) {
  const at = response.piecesAtMs
  const x = (ms: number) => Math.round(Math.min(1, ((firstByteMs ?? 0) + ms) / Math.max(durationMs, 1)) * WIDTH)
  const y = (nth: number) => Number((HEIGHT - (nth / at.length) * (HEIGHT - 2)).toFixed(1))
  const steps = at.map((ms, i) => `H${x(ms)}V${y(i + 1)}`).join('')
  return (
    <svg class="plot" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="ink" stroke-width="1.5" d={`M${x(0)} 0V${HEIGHT}`} />
      <path class="accent" stroke-width="2" d={`M${x(0)} ${HEIGHT}${steps}`} />
    </svg>
  )
}
