/** The messages that a live backend would have sent, as they come. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { MessageJson } from '../../wire.js'
import { type Listing, useListing } from '../listing.js'
import { announce } from '../widgets/announcer.jsx'
import { Empty } from '../widgets/empty.jsx'
import { View } from '../widgets/view.jsx'
import { ClearDialog } from './clear-dialog.jsx'
import { DeveloperOnly } from './developer-only.jsx'
import { Message } from './message.jsx'
import { usePeopleClient } from './people-client.js'
import { UnlessKeptElsewhere } from './unless-kept-elsewhere.jsx'

const EVERY_MS = 2000

export function OutboxView() {
  return (
    <View title="Outbox" lead="What a live backend would mail or text. Nothing leaves this machine.">
      <UnlessKeptElsewhere>
        <Messages />
      </UnlessKeptElsewhere>
    </View>
  )
}

function Messages() {
  const people = usePeopleClient()
  const loaded = useListing(people.messages, EVERY_MS)
  const [clearing, setClearing] = useState(false)
  useArrivals(loaded.listing)
  return (
    <DeveloperOnly of={loaded}>
      {messages =>
        messages.length === 0 ? (
          <Empty title="Nothing has been sent">
            <p>Confirmations, password recoveries, invitations and codes appear here by themselves.</p>
          </Empty>
        ) : (
          <>
            <ol class="messages">
              {messages.map(message => (
                <Message key={message.id} of={message} />
              ))}
            </ol>
            <div>
              <button type="button" class="button" onClick={() => setClearing(true)}>
                Clear the outbox
              </button>
            </div>
            {clearing && <ClearDialog people={people} onCleared={loaded.reload} onClosed={() => setClearing(false)} />}
          </>
        )
      }
    </DeveloperOnly>
  )
}

/** Announces what comes in later; what was there at first is no news. */
function useArrivals(listing: Listing<readonly MessageJson[]>): void {
  const [newest] = listing.kind === 'ready' ? listing.value : []
  const seen = useRef<string | null>(null)
  useEffect(() => {
    if (listing.kind !== 'ready') return
    if (seen.current !== null && newest && newest.id !== seen.current) announce(`A new message to ${newest.recipient}.`)
    seen.current = newest?.id ?? ''
  }, [listing.kind, newest])
}
