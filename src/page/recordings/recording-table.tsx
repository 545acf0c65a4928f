/** A table of recordings. */
import { routes } from '../../dashboard/routes.js'
import type { ListedRecording } from '../../recordings/operations.js'
import { Badge, type Tone } from '../widgets/badge.jsx'
import { Link } from '../widgets/link.jsx'
import { Moment } from '../widgets/moment.jsx'
import { TableHead } from '../widgets/table-head.jsx'

type ReadRecording = Exclude<ListedRecording, { problem: string }>

interface Props {
  readonly recordings: readonly ListedRecording[]
  readonly onDelete: (file: string) => void
}

export function RecordingTable({ recordings, onDelete }: Props) {
  return (
    <table class="table table-stacking recordings-table">
      <caption class="unseen">Recordings</caption>
      <TableHead columns={['Recording', 'Answer', 'Model', 'Recorded']} />
      <tbody>
        {recordings.map(recording => (
          <tr key={recording.file}>
            <th scope="row">
              <Link to={addressOf(recording.file)} class="row-link">
                {'problem' in recording
                  ? 'Cannot be read'
                  : (recording.said ?? `${recording.method} ${recording.path}`)}
              </Link>
              <code class="row-detail">{recording.file}</code>
            </th>
            {'problem' in recording ? <Problem of={recording} /> : <Facts of={recording} />}
            <td class="row-actions">
              <span class="row-buttons">
                <button type="button" class="button button-small button-warns" onClick={() => onDelete(recording.file)}>
                  Delete<span class="unseen"> {recording.file}</span>
                </button>
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

export const addressOf = (file: string) => `${routes.recordings}?${new URLSearchParams({ file })}`

function Problem({ of: { problem } }: { readonly of: { readonly problem: string } }) {
  return (
    <td colSpan={3} class="row-problem">
      <Badge tone="danger">Broken</Badge> {problem}
    </td>
  )
}

function Facts({ of: recording }: { readonly of: ReadRecording }) {
  return (
    <>
      <td>
        <span class="badges">
          {statesOf(recording).map(([tone, word]) => (
            <Badge key={word} tone={tone}>
              {word}
            </Badge>
          ))}
        </span>
      </td>
      <td data-label="Model">{recording.model ?? 'none'}</td>
      <td data-label="Recorded">
        <Moment at={recording.recordedAt} />
      </td>
    </>
  )
}

function statesOf({ status, streamed, complete, used, stale }: ReadRecording): readonly (readonly [Tone, string])[] {
  const answer = `${status} ${streamed ? 'stream' : 'whole'}`
  return [
    [status >= 400 ? 'care' : 'plain', answer],
    ...(complete ? [] : [['danger', 'Broke off'] as const]),
    ...(stale ? [['care', 'Stale'] as const] : []),
    ...(used ? [['good', 'Used'] as const] : []),
  ]
}
