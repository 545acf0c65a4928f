/** Why an exchange got its response: the endpoint, mode, rule or recording, and the closest matches. */
import type { ClosestRecording, Difference, Violation } from '../../../check/finding.js'
import { type AppliedFault, appliedFaultInWords, sourceInWords } from '../../../core/reply.js'
import type { JournalEntry } from '../../../journal/operations.js'
import { recordingAt, ruleAt } from '../../routes.js'
import { EditorLink } from '../editor-link.jsx'
import { Link } from '../widgets/link.jsx'
import { Pairs } from '../widgets/pairs.jsx'
import { Notice } from '../widgets/states.jsx'
import { type Column, Table } from '../widgets/table.jsx'

export function DecisionView({ entry }: { readonly entry: JournalEntry }) {
  const { error, hint, advice, remark, openaiRefuses, nearest, violations, fault, complete, status } = entry
  return (
    <>
      {error !== null && (
        <Notice tone={(status ?? 500) >= 500 ? 'danger' : 'care'}>
          <p>{error}</p>
          {hint !== null && <p>{hint}</p>}
          {advice !== null && <p>→ {advice}</p>}
        </Notice>
      )}
      {error === null && advice !== null && <p class="quiet">→ {advice}</p>}
      {openaiRefuses && <Notice tone="care">OpenAI refuses this with 400: {openaiRefuses}</Notice>}
      {!complete && <Notice tone="care">{endingOf(entry)}</Notice>}
      <Pairs
        of={[
          ['Answered by', (entry.answeredBy || !fault?.happened) && <Origin key="origin" entry={entry} />],
          ['Fault', fault?.happened ? appliedFaultInWords(fault as AppliedFault) : null],
          [(status ?? 0) >= 400 ? 'Message' : 'Nearest rule', remark],
        ]}
      />
      {nearest && <Nearest {...nearest} />}
      {violations.length > 0 && (
        <Table
          caption="Where the answer breaks the contract"
          isCaptioned
          columns={violationColumns}
          rows={violations}
          // Rows may be equal, but never change.
          keyOf={(_violation, index) => String(index)}
        />
      )}
    </>
  )
}

function endingOf({ fault, status, answeredBy }: JournalEntry): string {
  const what = status === null ? 'No response was sent' : 'The response was cut off'
  if (fault?.happened) return `${what} because of a fault.`
  if (status === null) return `${what}: the client disconnected first.`
  return answeredBy?.kind === 'live'
    ? 'The client or the live platform closed the connection before the end of the response.'
    : 'The client disconnected before the end of the response.'
}

function Origin({ entry: { answeredBy, source, request, error } }: { readonly entry: JournalEntry }) {
  if (!answeredBy) return <>{source ?? (error === null ? 'Standin' : 'Standin, with an error')}</>
  switch (answeredBy.kind) {
    case 'rule':
      return (
        <>
          <Link to={ruleAt(answeredBy)}>{sourceInWords(answeredBy)}</Link>{' '}
          <EditorLink of="rules" place={answeredBy.place} />
        </>
      )
    case 'recording':
      return (
        <>
          recording <Link to={recordingAt(answeredBy.file)}>{answeredBy.file}</Link>{' '}
          <EditorLink of="recordings" place={answeredBy.file} />
        </>
      )
    case 'live': {
      const { baseUrl, recordedAs } = answeredBy
      return (
        <>
          the live platform
          {baseUrl && (
            <>
              , <code>{baseUrl + request.path}</code>
            </>
          )}
          {recordedAs && (
            <>
              , recorded as <Link to={recordingAt(recordedAs)}>{recordedAs}</Link>
            </>
          )}
        </>
      )
    }
    default:
      return <>{sourceInWords(answeredBy)}</>
  }
}

const text = (value: string | undefined) =>
  value === undefined ? <span class="quiet">absent</span> : <code class="as-written">{value}</code>

const differenceColumns: readonly Column<Difference>[] = [
  { name: 'Field', width: '25%', of: ({ field }) => text(field) },
  { name: 'Request', of: ({ asked }) => text(asked) },
  { name: 'Recording', of: ({ recorded }) => text(recorded) },
]

const Nearest = ({ file, differences }: ClosestRecording) => (
  <Table
    caption={
      <>
        Differs from the nearest recording, <Link to={recordingAt(file)}>{file}</Link>
      </>
    }
    isCaptioned
    columns={differenceColumns}
    rows={differences}
    keyOf={({ field }) => field}
  />
)

const violationColumns: readonly Column<Violation>[] = [
  { name: 'Where', width: '25%', of: ({ path }) => text(path) },
  { name: 'What', of: ({ sentence }) => sentence },
  { name: 'Rule', width: '30%', of: ({ severity, source }) => `${severity}, ${source}` },
]
