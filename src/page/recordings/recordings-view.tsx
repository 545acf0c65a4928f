/** The recordings: search, view and delete them. */
import { useCallback, useState } from 'preact/hooks'
import { routes } from '../../dashboard/routes.js'
import { type Control, useControl } from '../api.js'
import { useListing } from '../listing.js'
import { DeveloperOnly } from '../people/developer-only.jsx'
import { navigate, useAddress } from '../routing.js'
import { useSearch } from '../search.js'
import { announce } from '../widgets/announcer.jsx'
import { Scrolling } from '../widgets/code-block.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Confirm } from '../widgets/dialog.jsx'
import { Link } from '../widgets/link.jsx'
import { counted, Pager, SearchField } from '../widgets/search-field.jsx'
import { Empty } from '../widgets/states.jsx'
import { goOnFromHeading, View } from '../widgets/view.jsx'
import { RecordingTable } from './recording-table.jsx'

export function RecordingsView() {
  const file = useAddress().query.get('file')
  if (file !== null) return <OneRecording key={file} file={file} />
  return (
    <View title="Recordings" lead="Answers that are kept on disk. In mode replay the same requests get them again.">
      <RecordingList />
    </View>
  )
}

interface Props {
  readonly file: string
  readonly control: Control
  readonly onDeleted: () => void
  readonly onClosed: () => void
}

/** Asks for confirmation, then deletes a recording. */
export function DeleteDialog({ file, control, onDeleted, onClosed }: Props) {
  return (
    <Confirm
      title="Delete this recording?"
      send="Delete"
      tone="danger"
      onSend={() => control('DELETE /recordings/{name}', { name: file })}
      onDone={() => {
        goOnFromHeading()
        onDeleted()
        announce('The recording is deleted.')
      }}
      onClosed={onClosed}
    >
      <p class="long-name">
        <code>{file}</code>
      </p>
      <p>The file is removed from the disk. In mode replay its request is answered no longer.</p>
    </Confirm>
  )
}

/** Browsers get slow with more text on a page. */
const LONGEST_SHOWN = 200_000

/** One recording, as in its file. */
export function OneRecording({ file }: { readonly file: string }) {
  const control = useControl()
  const load = useCallback(
    async (signal: AbortSignal) => (await control('GET /recordings/{name}', { name: file, signal })).text,
    [control, file],
  )
  const loaded = useListing(load)
  const [leaving, setLeaving] = useState(false)
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
            <div class="code-block">
              <Scrolling label="The file">
                <pre>
                  <code>{text.slice(0, LONGEST_SHOWN)}</code>
                </pre>
              </Scrolling>
              <CopyButton text={text} what="the file" />
            </div>
            {text.length > LONGEST_SHOWN && (
              <p class="quiet">This is the beginning of a long file. Copy gives all of it.</p>
            )}
          </>
        )}
      </DeveloperOnly>
      {leaving && (
        <DeleteDialog
          file={file}
          control={control}
          onDeleted={() => navigate(routes.recordings)}
          onClosed={() => setLeaving(false)}
        />
      )}
    </View>
  )
}

const EVERY_MS = 5000

/** All recordings, page by page. */
export function RecordingList() {
  const control = useControl()
  const { words, query, limit, offset, setWords, move } = useSearch(routes.recordings)
  const load = useCallback(
    async (signal: AbortSignal) => ({ ...(await control('GET /recordings', { query, signal })), begin: offset }),
    [control, query],
  )
  const loaded = useListing(load, EVERY_MS)
  const [leaving, setLeaving] = useState<string>()
  return (
    <DeveloperOnly of={loaded}>
      {({ folder, data, total, begin }) => (
        <>
          {(total > 0 || words !== '') && (
            <SearchField
              label="Search recordings"
              value={words}
              onChange={setWords}
              found={counted(total, 'recording')}
            />
          )}
          {data.length > 0 && <RecordingTable recordings={data} onDelete={setLeaving} />}
          {total === 0 && words === '' && (
            <Empty title={`Nothing is recorded in ${folder}`}>
              <p>
                Start with <code>standin record --upstream URL</code> and use your app, or make a recording of a request
                that you have sent.
              </p>
            </Empty>
          )}
          {total === 0 && words !== '' && (
            <Empty title="No recording has these words">
              <p>The search looks at paths, models, what the user said and the names of files.</p>
            </Empty>
          )}
          <Pager offset={begin} limit={limit} total={total} onMove={move} />
          {leaving !== undefined && (
            <DeleteDialog
              file={leaving}
              control={control}
              onDeleted={loaded.reload}
              onClosed={() => setLeaving(undefined)}
            />
          )}
        </>
      )}
    </DeveloperOnly>
  )
}
