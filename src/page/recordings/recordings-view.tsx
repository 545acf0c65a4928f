/** The recordings: search, view and delete them. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { recordingAt, routes } from '../../dashboard/routes.js'
import type { ListedRecording } from '../../recordings/operations.js'
import { useControl } from '../api.js'
import { navigate, useAddress } from '../routing.js'
import { announce } from '../widgets/announcer.jsx'
import { Badge, type Tone } from '../widgets/badge.jsx'
import { CodeBlock } from '../widgets/code-block.jsx'
import { DeveloperOnly } from '../widgets/developer-only.jsx'
import { Confirm } from '../widgets/dialog.jsx'
import { Link } from '../widgets/link.jsx'
import { ListPage, useList } from '../widgets/list-page.jsx'
import { Moment } from '../widgets/moment.jsx'
import { useResource } from '../widgets/resource.js'
import { Empty } from '../widgets/states.jsx'
import type { Column } from '../widgets/table.jsx'
import { goOnFromHeading, View } from '../widgets/view.jsx'

export function RecordingsView() {
  const file = useAddress().query.get('file')
  return file === null ? <AllRecordings /> : <OneRecording key={file} file={file} />
}

const EVERY_MS = 5000

function AllRecordings() {
  const control = useControl()
  const list = useList(
    routes.recordings,
    (query, signal) => control('GET /recordings', { query, signal }),
    [control],
    EVERY_MS,
  )
  const [leaving, setLeaving] = useState<string>()
  const folder = list.value?.folder
  return (
    <ListPage
      title="Recordings"
      lead="Answers saved on disk. Replay answers the same requests with them."
      of={list}
      what="recording"
      searchLabel="Search recordings"
      caption="Recordings"
      columns={columns}
      keyOf={({ file }) => file}
      actionsWidth="6rem"
      actions={({ file }) => (
        <button type="button" class="button button-small button-warns" onClick={() => setLeaving(file)}>
          Delete<span class="unseen"> {file}</span>
        </button>
      )}
      empty={
        <Empty title={`There are no recordings in ${folder}`}>
          <p>
            Start with <code>standin record --upstream URL</code> and use your app, or create a recording from a request
            under Requests.
          </p>
        </Empty>
      }
      nothingFound={
        <Empty title="No recordings match">
          <p>The search looks at paths, models, prompts and file names.</p>
        </Empty>
      }
    >
      {leaving !== undefined && (
        <DeleteDialog file={leaving} onDeleted={list.reload} onClosed={() => setLeaving(undefined)} />
      )}
    </ListPage>
  )
}

type ReadRecording = Exclude<ListedRecording, { problem: string }>

/** A fact of a recording that can be read. */
const fact = (of: (recording: ReadRecording) => ComponentChildren) => (recording: ListedRecording) =>
  'problem' in recording ? '' : of(recording)

const columns: readonly Column<ListedRecording>[] = [
  {
    name: 'Recording',
    plain: true,
    of: recording => (
      <>
        <Link to={recordingAt(recording.file)} class="row-link">
          {'problem' in recording ? 'Cannot be read' : (recording.said ?? `${recording.method} ${recording.path}`)}
        </Link>
        <code class="row-detail">{recording.file}</code>
        {'problem' in recording && <span class="row-detail">{recording.problem}</span>}
      </>
    ),
  },
  {
    name: 'Answer',
    width: '11rem',
    plain: true,
    of: recording => (
      <span class="badges">
        {statesOf(recording).map(([tone, word]) => (
          <Badge key={word} tone={tone}>
            {word}
          </Badge>
        ))}
      </span>
    ),
  },
  { name: 'Model', width: '10rem', of: fact(({ model }) => model ?? 'none') },
  { name: 'Recorded', width: '9rem', of: fact(({ recordedAt }) => <Moment at={recordedAt} />) },
]

function statesOf(recording: ListedRecording): readonly (readonly [Tone, string])[] {
  if ('problem' in recording) return [['danger', 'Broken']]
  const { status, streamed, complete, used, stale } = recording
  return [
    [status >= 400 ? 'care' : 'plain', `${status} ${streamed ? 'stream' : 'whole'}`],
    ...(complete ? [] : [['danger', 'Broke off'] as const]),
    ...(stale ? [['care', 'Stale'] as const] : []),
    ...(used ? [['good', 'Used'] as const] : []),
  ]
}

/** Browsers get slow with more text on a page. */
const LONGEST_SHOWN = 200_000

/** One recording, as in its file. */
function OneRecording({ file }: { readonly file: string }) {
  const control = useControl()
  const loaded = useResource(
    async signal => (await control('GET /recordings/{name}', { name: file, signal })).text,
    [control, file],
  )
  const [isLeaving, setLeaving] = useState(false)
  const action = (
    <button type="button" class="button button-warns" onClick={() => setLeaving(true)}>
      Delete
    </button>
  )
  return (
    <View title="Recording" lead={<code class="long-name">{file}</code>} action={action}>
      <p>
        <Link to={routes.recordings}>All recordings</Link>
      </p>
      <DeveloperOnly of={loaded}>
        {text => (
          <>
            <CodeBlock code={text.slice(0, LONGEST_SHOWN)} copied={text} label="the file" />
            {text.length > LONGEST_SHOWN && (
              <p class="quiet">This is the beginning of a long file. Copy gives all of it.</p>
            )}
          </>
        )}
      </DeveloperOnly>
      {isLeaving && (
        <DeleteDialog file={file} onDeleted={() => navigate(routes.recordings)} onClosed={() => setLeaving(false)} />
      )}
    </View>
  )
}

interface DeleteProps {
  readonly file: string
  readonly onDeleted: () => void
  readonly onClosed: () => void
}

function DeleteDialog({ file, onDeleted, onClosed }: DeleteProps) {
  const control = useControl()
  return (
    <Confirm
      title="Delete this recording?"
      send="Delete"
      tone="danger"
      onSend={() => control('DELETE /recordings/{name}', { name: file })}
      onDone={() => {
        goOnFromHeading()
        onDeleted()
        announce('The recording was deleted.')
      }}
      onClosed={onClosed}
    >
      <p class="long-name">
        <code>{file}</code>
      </p>
      <p>The file is deleted. Replay will no longer answer this request.</p>
    </Confirm>
  )
}
