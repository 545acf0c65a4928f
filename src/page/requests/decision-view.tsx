/** Why an exchange ended as it did: its endpoint, mode, rule or recording, and the closest matches. */
import type { ClosestRecording, Violation } from '../../check/finding.js'
import { type FaultDone, faultDoneInWords, inWords } from '../../core/exchange.js'
import { recordingAt, ruleAt } from '../../dashboard/routes.js'
import type { JournalEntry } from '../../journal/operations.js'
import { Link } from '../widgets/link.jsx'
import { Pairs } from '../widgets/pairs.jsx'
import { Notice } from '../widgets/states.jsx'

export function DecisionView({ entry }: { readonly entry: JournalEntry }) {
  const { endpoint, mode, error, hint, remark, openaiRefuses, nearest, violations, fault, complete, status } = entry
  return (
    <section aria-labelledby="decision">
      <h3 id="decision">Why this response</h3>
      {error !== null && (
        <Notice tone={(status ?? 500) >= 500 ? 'danger' : 'care'}>
          <p>{error}</p>
          {hint !== null && <p>{hint}</p>}
        </Notice>
      )}
      {openaiRefuses && <Notice tone="care">OpenAI refuses this with 400: {openaiRefuses}</Notice>}
      {!complete && <Notice tone="care">{endingOf(entry)}</Notice>}
      <Pairs
        of={[
          ['Endpoint', endpoint ?? 'None at this path with this method.'],
          ['Mode', mode],
          ['Answered by', (entry.answeredBy || !fault?.happened) && <Origin key="origin" entry={entry} />],
          ['Fault', fault?.happened ? faultDoneInWords(fault as FaultDone) : null],
          [(status ?? 0) >= 400 ? 'Message' : 'Nearest rule', remark],
        ]}
      />
      {nearest && <Nearest of={nearest} />}
      {violations.length > 0 && <Violations violations={violations} />}
    </section>
  )
}

/** Why the response is missing or incomplete. */
function endingOf({ fault, status, answeredBy }: JournalEntry): string {
  const what = status === null ? 'No response was sent' : 'The response was cut off before its end'
  if (fault?.happened) return `${what}: a fault asked for that.`
  if (status === null) return `${what}: the client left first.`
  return answeredBy?.kind === 'live'
    ? 'The client left, or the live platform broke off, before the end of the response.'
    : 'The client left before the end of the response.'
}

/** What gave the response, with a link to its file. */
function Origin({ entry: { answeredBy, source, request } }: { readonly entry: JournalEntry }) {
  if (!answeredBy) return <>{source ?? 'Standin, as an error'}</>
  switch (answeredBy.kind) {
    case 'rule':
      return (
        <>
          <Link to={ruleAt(answeredBy)}>{inWords(answeredBy)}</Link> <code>{answeredBy.place}</code>
        </>
      )
    case 'recording':
      return (
        <>
          recording <Link to={recordingAt(answeredBy.file)}>{answeredBy.file}</Link>
        </>
      )
    case 'live':
      return (
        <>
          the live platform
          {answeredBy.baseUrl && (
            <>
              , <code>{answeredBy.baseUrl + request.path}</code>
            </>
          )}
          {answeredBy.recordedAs && (
            <>
              , recorded as <Link to={recordingAt(answeredBy.recordedAs)}>{answeredBy.recordedAs}</Link>
            </>
          )}
        </>
      )
    default:
      return <>{inWords(answeredBy)}</>
  }
}

function Nearest({ of: { file, differences } }: { readonly of: ClosestRecording }) {
  return (
    <table class="table near">
      <caption>
        Differs from the nearest recording, <code>{file}</code>
      </caption>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Request</th>
          <th scope="col">Recording</th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ field, asked, recorded }) => (
          <tr key={field}>
            <th scope="row">
              <code>{field}</code>
            </th>
            <td>{asked === undefined ? <span class="quiet">absent</span> : <code>{asked}</code>}</td>
            <td>{recorded === undefined ? <span class="quiet">absent</span> : <code>{recorded}</code>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Violations({ violations }: { readonly violations: readonly Violation[] }) {
  return (
    <table class="table near">
      <caption>Where the answer breaks the contract</caption>
      <thead>
        <tr>
          <th scope="col">Where</th>
          <th scope="col">What</th>
          <th scope="col">Rule</th>
        </tr>
      </thead>
      <tbody>
        {violations.map(({ path, sentence, severity, source }, i) => (
          // Rows may be identical, but never change.
          <tr key={i}>
            <th scope="row">
              <code>{path}</code>
            </th>
            <td>{sentence}</td>
            <td>
              {severity}, {source}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
