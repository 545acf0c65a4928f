/** One recording, as it is written. */
import { useCallback, useState } from 'preact/hooks'
import { routes } from '../../routes.js'
import { useListing } from '../listing.js'
import { DeveloperOnly } from '../people/developer-only.jsx'
import { navigate } from '../routing.js'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Link } from '../widgets/link.jsx'
import { Scrolling } from '../widgets/scrolling.jsx'
import { View } from '../widgets/view.jsx'
import { DeleteDialog } from './delete-dialog.jsx'
import { useRecordingsClient } from './recordings-client.js'

/** Browsers get slow with more text on a page. */
const LONGEST_SHOWN = 200_000

export function OneRecording({ file }: { readonly file: string }) {
  const recordings = useRecordingsClient()
  const load = useCallback((signal: AbortSignal) => recordings.text(file, signal), [recordings, file])
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
          recordings={recordings}
          onDeleted={() => navigate(routes.recordings)}
          onClosed={() => setLeaving(false)}
        />
      )}
    </View>
  )
}
