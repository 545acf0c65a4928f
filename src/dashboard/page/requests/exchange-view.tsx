/** What was asked, what was decided and what was answered. */
import type { AnswerJson } from '../../journal-wire.js'
import { CodeBlock } from '../widgets/code-block.jsx'
import { exactly } from '../widgets/moment.jsx'
import { BodyView, SHOWN } from './body-view.jsx'
import { turnsAnswered, turnsAsked } from './conversation.js'
import { DecisionView } from './decision-view.jsx'
import { ExchangeActions } from './exchange-actions.jsx'
import { FoldedHeaders } from './folded-headers.jsx'
import { TimingView } from './timing-view.jsx'
import type { Exchange } from './use-exchange.js'
import { callerName, size } from './wording.js'

export function ExchangeView({ of: { entry, curl, miss } }: { readonly of: Exchange }) {
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
  readonly answer: AnswerJson
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
