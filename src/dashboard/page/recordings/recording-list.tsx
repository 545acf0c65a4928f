/** The recordings of the folder, page by page. */
import { useCallback, useState } from 'preact/hooks'
import { routes } from '../../routes.js'
import { useListing } from '../listing.js'
import { DeveloperOnly } from '../people/developer-only.jsx'
import { useSearch } from '../search.js'
import { Empty } from '../widgets/empty.jsx'
import { Pager } from '../widgets/pager.jsx'
import { counted, SearchField } from '../widgets/search-field.jsx'
import { DeleteDialog } from './delete-dialog.jsx'
import { RecordingTable } from './recording-table.jsx'
import { useRecordingsClient } from './recordings-client.js'

const EVERY_MS = 5000

export function RecordingList() {
  const recordings = useRecordingsClient()
  const { words, query, limit, offset, setWords, move } = useSearch(routes.recordings)
  const load = useCallback(
    async (signal: AbortSignal) => ({ ...(await recordings.list(query, signal)), begin: offset }),
    [recordings, query],
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
              recordings={recordings}
              onDeleted={loaded.reload}
              onClosed={() => setLeaving(undefined)}
            />
          )}
        </>
      )}
    </DeveloperOnly>
  )
}
