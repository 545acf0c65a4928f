/** The recordings, which can be searched, viewed and deleted. */
import type { ComponentChildren } from 'preact'
import type { ListedRecording } from '../../../recordings/operations.js'
import { recordingAt, routes } from '../../routes.js'
import { control } from '../api.js'
import { navigate, useAddress } from '../routing.js'
import { Badges, type TonedWord } from '../widgets/badge.jsx'
import { CodeBlock } from '../widgets/code-block.jsx'
import { DeveloperOnly } from '../widgets/developer-only.jsx'
import { AskButton } from '../widgets/dialog.jsx'
import { Link } from '../widgets/link.jsx'
import { ListPage, useList } from '../widgets/list-page.jsx'
import { Moment } from '../widgets/moment.jsx'
import { useResource } from '../widgets/resource.js'
import { Empty } from '../widgets/states.jsx'
import type { Column } from '../widgets/table.jsx'
import { View } from '../widgets/view.jsx'

export function RecordingsView() {
  const file = useAddress().query.get('file')
  return file === null ? <AllRecordings /> : <OneRecording key={file} file={file} />
}

function AllRecordings() {
  const list = useList(routes.answers, (query, signal) => control('GET /recordings', { query, signal }))
  const folder = list.value?.folder
  return (
    <ListPage
      title="Recordings"
      lead="Answers saved on disk. Replay uses them to answer the same requests."
      of={list}
      what="recording"
      searches="paths, models, prompts and file names"
      columns={recordingColumns}
      keyOf={({ file }) => file}
      actionsWidth="6rem"
      actions={({ file }) => <DeleteButton small about={file} file={file} onDone={list.reload} />}
      empty={
        <Empty title={`There are no recordings in ${folder}`}>
          Start with <code>standin record --upstream URL</code> and use your app, or create a recording from a request
          under Requests.
        </Empty>
      }
    />
  )
}

type ReadRecording = Exclude<ListedRecording, { problem: string }>

const fact = (of: (recording: ReadRecording) => ComponentChildren) => (recording: ListedRecording) =>
  'problem' in recording ? '' : of(recording)

const recordingColumns: readonly Column<ListedRecording>[] = [
  {
    name: 'Recording',
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
    of: recording => <Badges of={statesOf(recording)} />,
  },
  { name: 'Model', width: '10rem', of: fact(({ model }) => model ?? 'none') },
  { name: 'Recorded', width: '9rem', of: fact(({ recordedAt }) => <Moment at={recordedAt} isReal />) },
]

function statesOf(recording: ListedRecording): readonly TonedWord[] {
  if ('problem' in recording) return [['danger', 'Broken']]
  const { status, streamed, complete, used } = recording
  return [
    [status >= 400 ? 'care' : 'plain', `${status} ${streamed ? 'stream' : 'whole'}`],
    ...(complete ? [] : [['danger', 'Incomplete'] as const]),
    ...(used ? [['good', 'Used'] as const] : []),
  ]
}

/** The most characters that are shown, since browsers get slow with more. */
const LONGEST_SHOWN = 200_000

function OneRecording({ file }: { readonly file: string }) {
  const loaded = useResource(
    async signal => (await control('GET /recordings/{name}', { name: file, signal })).text,
    [file],
  )
  const action = loaded.value !== undefined && <DeleteButton file={file} onDone={() => navigate(routes.answers)} />
  return (
    <View title="Recording" lead={<code class="long-name">{file}</code>} action={action}>
      <p>
        <Link to={routes.answers}>All recordings</Link>
      </p>
      <DeveloperOnly of={loaded}>
        {text => (
          <>
            <CodeBlock code={text.slice(0, LONGEST_SHOWN)} copied={text} label="the file" />
            {text.length > LONGEST_SHOWN && (
              <p class="quiet">Only the start of this long file is shown. The button copies all of it.</p>
            )}
          </>
        )}
      </DeveloperOnly>
    </View>
  )
}

interface DeleteProps {
  readonly file: string
  readonly onDone: () => void
  readonly small?: boolean
  readonly about?: string
}

function DeleteButton({ file, ...button }: DeleteProps) {
  return (
    <AskButton
      {...button}
      label="Delete"
      title="Delete this recording?"
      send="Delete"
      onSend={() => control('DELETE /recordings/{name}', { name: file })}
      said="The recording was deleted."
    >
      <p class="long-name">
        <code>{file}</code>
      </p>
      <p>The file is deleted. Replay will no longer answer this request.</p>
    </AskButton>
  )
}
