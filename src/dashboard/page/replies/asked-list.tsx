/** The last chat requests, to make something of. */
import { useState } from 'preact/hooks'
import { useListing } from '../listing.js'
import { MakeRecordingDialog } from '../make/make-recording.jsx'
import { MakeRuleDialog } from '../make/make-rule.jsx'
import { Empty } from '../widgets/empty.jsx'
import { Shown } from '../widgets/shown.jsx'
import { AskedTable } from './asked-table.jsx'
import { useRepliesClient } from './replies-client.js'

const EVERY_MS = 3000

interface Open {
  readonly kind: 'rule' | 'recording'
  readonly id: string
}

export function AskedList() {
  const loaded = useListing(useRepliesClient().asked, EVERY_MS)
  const [open, setOpen] = useState<Open>()
  const { listing } = loaded
  // The rules above ask for the key already.
  if (listing.kind === 'failed' && [401, 403].includes(listing.failure.status)) return null
  const close = () => setOpen(undefined)
  return (
    <>
      <Shown of={loaded}>
        {asked =>
          asked.length === 0 ? (
            <Empty title="Nobody has asked a model yet">
              <p>The last chat requests of your app appear here by themselves.</p>
            </Empty>
          ) : (
            <AskedTable asked={asked} onChoose={(kind, id) => setOpen({ kind, id })} />
          )
        }
      </Shown>
      {/* Beside the list, since requests leave it when others come. */}
      {open?.kind === 'rule' && <MakeRuleDialog entry={open} onClosed={close} />}
      {open?.kind === 'recording' && <MakeRecordingDialog entry={open} onClosed={close} />}
    </>
  )
}
