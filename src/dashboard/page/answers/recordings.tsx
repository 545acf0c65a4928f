/** The recordings, which can be searched, shown, opened in the editor and deleted. */
import type { ListedRecording } from '../../../recordings/operations.js'
import { recordingAt, routes } from '../../routes.js'
import { control } from '../api.js'
import { EditorLink } from '../editor-link.jsx'
import { Link, navigate, useAddress } from '../routing.jsx'
import { SearchList, useSearch } from '../search-list.jsx'
import { DeveloperOnly } from '../widgets/developer-only.jsx'
import { AskButton } from '../widgets/fields.jsx'
import { Moment } from '../widgets/moment.jsx'
import { useResource } from '../widgets/resource.js'
import { Empty } from '../widgets/states.jsx'
import { type Column, Table } from '../widgets/table.jsx'
import { Badges, CodeBlock, type TonedWord } from '../widgets/view.jsx'

const ALL = `${routes.answers}?tab=recordings`

export function Recordings() {
  const file = useAddress().query.get('file')
  return file === null ? <AllRecordings /> : <OneRecording key={file} file={file} />
}

function AllRecordings() {
  const list = useSearch((query, signal) => control('GET /recordings', { query, signal }))
  return (
    <SearchList
      of={list}
      what="recording"
      searches="paths, models, prompts and file names"
      empty={
        <Empty title="There are no recordings">
          Start with <code>standin record --upstream URL</code> and use your app.
        </Empty>
      }
    >
      {recordings => (
        <Table
          caption="Recordings"
          columns={recordingColumns}
          rows={recordings}
          keyOf={({ file }) => file}
          actionsWidth="6rem"
          actions={({ file }) => <DeleteButton file={file} onDone={list.reload} />}
        />
      )}
    </SearchList>
  )
}

const recordingColumns: readonly Column<ListedRecording>[] = [
  {
    name: 'Recording',
    of: recording => (
      <>
        <Link to={recordingAt(recording.file)} class="long-name">
          {'problem' in recording ? recording.problem : (recording.said ?? `${recording.method} ${recording.path}`)}
        </Link>
        <span class="row-detail long-name">
          <EditorLink of="recordings" place={recording.file} />
        </span>
      </>
    ),
  },
  { name: 'Answer', width: '12rem', plain: true, of: recording => <Badges of={statesOf(recording)} /> },
  { name: 'Model', width: '10rem', of: recording => ('problem' in recording ? '' : (recording.model ?? 'none')) },
  {
    name: 'Recorded',
    width: '9rem',
    of: recording => !('problem' in recording) && <Moment at={recording.recordedAt} isReal />,
  },
]

function statesOf(recording: ListedRecording): readonly TonedWord[] {
  if ('problem' in recording) return [['danger', 'Broken']]
  const { status, streamed, complete, used, made } = recording
  return [
    [status >= 400 ? 'care' : 'plain', `${status} ${streamed ? 'stream' : 'whole'}`],
    ...(complete ? [] : [['danger', 'Incomplete'] as const]),
    ...(used ? [['good', 'Used in this run'] as const] : []),
    ...(made ? [['good', 'New in this run'] as const] : []),
  ]
}

/** The most characters that are shown, since browsers get slow with more. */
const LONGEST_SHOWN = 200_000

function OneRecording({ file }: { readonly file: string }) {
  const load = (signal: AbortSignal) => control('GET /recordings/{name}', { name: file, signal })
  const loaded = useResource(load, [file])
  return (
    <div class="stack">
      <p class="row">
        <Link to={ALL}>All recordings</Link>
        <EditorLink of="recordings" place={file} />
        {loaded.value && <DeleteButton file={file} onDone={() => navigate(ALL)} />}
      </p>
      <DeveloperOnly of={loaded}>
        {({ text }) => (
          <>
            <CodeBlock code={text.slice(0, LONGEST_SHOWN)} label="the file" />
            {text.length > LONGEST_SHOWN && (
              <p class="quiet">Only the start of this long file is shown. Open it in the editor.</p>
            )}
          </>
        )}
      </DeveloperOnly>
    </div>
  )
}

const DeleteButton = ({ file, onDone }: { readonly file: string; readonly onDone: () => void }) => (
  <AskButton
    small
    label="Delete"
    about={file}
    title="Delete this recording?"
    send="Delete"
    onSend={() => control('DELETE /recordings/{name}', { name: file }).then(onDone)}
    said="The recording was deleted."
  >
    <p class="long-name">
      The file <code>{file}</code> is deleted. Replay will no longer answer this request.
    </p>
  </AskButton>
)
