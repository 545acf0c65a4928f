/** Why an exchange ended as it did: its endpoint, mode, rule or recording, and the closest matches. */
import type { Violation } from '../../check/finding.js'
import type { JournalEntry } from '../../journal/operations.js'
import type { Miss } from '../../recordings/operations.js'
import { Notice } from '../widgets/states.jsx'

interface Props {
  readonly entry: JournalEntry
  readonly miss: Miss | undefined
}

export function DecisionView({ entry, miss }: Props) {
  const { endpoint, mode, source, error, hint, remark, openaiRefuses, violations } = entry
  const facts = [
    ['Endpoint', endpoint ?? 'None at this path with this method.'],
    ['Mode', mode],
    ['Answer by', source],
    [(entry.status ?? 0) >= 400 ? 'Message' : 'Nearest rule', remark],
  ] as const
  return (
    <section aria-labelledby="decision">
      <h3 id="decision">Decision</h3>
      {error !== null && (
        <Notice tone={(entry.status ?? 500) >= 500 ? 'danger' : 'care'}>
          <p>{error}</p>
          {hint !== null && <p>{hint}</p>}
        </Notice>
      )}
      {openaiRefuses && <Notice tone="care">OpenAI refuses this with 400: {openaiRefuses}</Notice>}
      {!entry.complete && (
        <Notice tone="care">
          {entry.status === null ? 'No answer has left.' : 'The client left, or the answer was cut, before its end.'}
        </Notice>
      )}
      <dl class="pairs">
        {facts.map(
          ([name, value]) =>
            value !== null && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
      {miss?.nearest && <Nearest nearest={miss.nearest} />}
      {violations.length > 0 && <Violations violations={violations} />}
    </section>
  )
}

function Nearest({ nearest: { file, differences } }: { readonly nearest: NonNullable<Miss['nearest']> }) {
  return (
    <table class="table near">
      <caption>
        Differs from the nearest recording, <code>{file}</code>
      </caption>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Asked</th>
          <th scope="col">Recorded</th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ field, asked, recorded }) => (
          <tr key={field}>
            <th scope="row">
              <code>{field}</code>
            </th>
            <td>{asked === undefined ? <span class="quiet">not there</span> : <code>{asked}</code>}</td>
            <td>{recorded === undefined ? <span class="quiet">not there</span> : <code>{recorded}</code>}</td>
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
