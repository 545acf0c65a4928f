/** The messages that a live backend would have sent, updated as they come. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Message as SentMessage } from '../../supabase/operations.js'
import { useDeveloperApi } from '../api.js'
import { type Listing, useListing } from '../listing.js'
import { announce } from '../widgets/announcer.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Confirm } from '../widgets/dialog.jsx'
import { Icon } from '../widgets/icon.jsx'
import { Moment } from '../widgets/moment.jsx'
import { Empty } from '../widgets/states.jsx'
import { goOnFromHeading, View } from '../widgets/view.jsx'
import { DeveloperOnly, UnlessKeptElsewhere } from './developer-only.jsx'

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
  const api = useDeveloperApi()
  const load = useCallback(async (signal: AbortSignal) => (await api('GET /messages', { signal })).data, [api])
  const loaded = useListing(load, EVERY_MS)
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
            {clearing && (
              <ClearDialog
                onClear={() => api('DELETE /messages')}
                onCleared={loaded.reload}
                onClosed={() => setClearing(false)}
              />
            )}
          </>
        )
      }
    </DeveloperOnly>
  )
}

/** Announces new messages, but not those that were there at first. */
function useArrivals(listing: Listing<readonly SentMessage[]>): void {
  const [newest] = listing.kind === 'ready' ? listing.value : []
  const seen = useRef<string | null>(null)
  useEffect(() => {
    if (listing.kind !== 'ready') return
    if (seen.current !== null && newest && newest.id !== seen.current) announce(`A new message to ${newest.recipient}.`)
    seen.current = newest?.id ?? ''
  }, [listing.kind, newest])
}

interface Props {
  readonly onClear: () => Promise<void>
  readonly onCleared: () => void
  readonly onClosed: () => void
}

/** Asks for confirmation, then empties the outbox. */
function ClearDialog({ onClear, onCleared, onClosed }: Props) {
  return (
    <Confirm
      title="Clear the outbox?"
      send="Clear"
      tone="danger"
      onSend={onClear}
      onDone={() => {
        goOnFromHeading()
        onCleared()
        announce('The outbox is empty.')
      }}
      onClosed={onClosed}
    >
      <p>The messages are gone for good. Their codes and links go on working until they expire.</p>
    </Confirm>
  )
}

/** A message that a live backend would have sent. */
function Message({ of: { subject, recipient, channel, code, link, created_at } }: { readonly of: SentMessage }) {
  return (
    <li class="message">
      <div class="message-head">
        <h2>{subject || (channel === 'sms' ? 'Text message' : 'Message')}</h2>
        <Moment at={created_at} />
      </div>
      <p class="quiet">To {recipient}</p>
      <div class="message-body">
        {code !== null && (
          <span class="message-code">
            <code>{code}</code>
            <CopyButton text={code} what={`the code for ${recipient}`} bare />
          </span>
        )}
        {link !== null && (
          <span class="message-link">
            <a href={link} target="_blank" rel="noopener noreferrer">
              Open the link
              <Icon name="link" />
              <span class="unseen"> for {recipient}, in a new tab</span>
            </a>
            <CopyButton text={link} what={`the link for ${recipient}`} bare />
          </span>
        )}
      </div>
    </li>
  )
}
