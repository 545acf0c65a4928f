/** The messages that a live backend would have sent, updated as they arrive. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Message as SentMessage } from '../../../supabase/operations.js'
import { routes } from '../../routes.js'
import { control } from '../api.js'
import { useConfig } from '../config.jsx'
import { markSeen } from '../unseen.js'
import { announce } from '../widgets/announcer.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { KeptElsewhere } from '../widgets/developer-only.jsx'
import { AskButton } from '../widgets/dialog.jsx'
import { Icon } from '../widgets/icon.jsx'
import { List, useList } from '../widgets/list-page.jsx'
import { Moment } from '../widgets/moment.jsx'
import { Empty } from '../widgets/states.jsx'
import { View } from '../widgets/view.jsx'

const OUTBOX_EVERY_MS = 2000
const about = {
  title: 'Outbox',
  lead: 'What a live backend would send by mail or text. Nothing leaves this machine.',
} as const

export const OutboxView = () => (useConfig().auth_mode === 'local' ? <Outbox /> : <KeptElsewhere {...about} />)

function Outbox() {
  const list = useList(routes.people, (query, signal) => control('GET /outbox', { query, signal }), OUTBOX_EVERY_MS)
  const { search } = list
  const isNewest = search.words === '' && search.query.offset === 0
  useArrivals(isNewest ? list.value?.data : undefined)
  const action = list.value && list.value.data.length > 0 && (
    <AskButton
      label="Clear the outbox"
      title="Clear the outbox?"
      send="Clear"
      onSend={() => control('DELETE /outbox')}
      onDone={list.reload}
      said="The outbox is empty."
    >
      <p>All messages are deleted. Their codes and links still work until they expire.</p>
    </AskButton>
  )
  return (
    <View {...about} action={action}>
      <List
        of={list}
        what="message"
        searches="recipients, subjects and codes"
        empty={
          <Empty title="Nothing has been sent">
            Confirmations, password resets, invitations and codes appear here automatically.
          </Empty>
        }
      >
        {messages => <Messages of={messages} isNewest={isNewest} />}
      </List>
    </View>
  )
}

/** Announces messages that arrive while the view is open. All messages that are shown count as seen. */
function useArrivals(messages: readonly SentMessage[] | undefined): void {
  const seen = useRef<string | undefined>(undefined)
  const newest = messages?.[0]
  useEffect(() => {
    if (!messages) return
    if (seen.current !== undefined && newest && newest.id !== seen.current) {
      announce(`A new message to ${newest.recipient}.`)
    }
    seen.current = newest?.id ?? ''
    if (newest) markSeen(newest.id)
  }, [messages])
}

/** While the pointer or the focus is in the list, new messages wait, so that nothing moves while the user reads. */
function Messages({ of: messages, isNewest }: { readonly of: readonly SentMessage[]; readonly isNewest: boolean }) {
  const [isUsed, setUsed] = useState(false)
  const shown = useRef(messages)
  if (!isUsed || !isNewest) shown.current = messages
  const use = () => setUsed(true)
  const leave = () => setUsed(false)
  return (
    <ol class="lined" onPointerEnter={use} onPointerLeave={leave} onFocusIn={use} onFocusOut={leave}>
      {shown.current.map(message => (
        <Message key={message.id} of={message} />
      ))}
    </ol>
  )
}

/** A message as its recipient would see it. */
function Message({ of: message }: { readonly of: SentMessage }) {
  const { subject, recipient, channel, text, code, link, link_text, redirect_to, created_at } = message
  return (
    <li class="message stack">
      <div class="row spread">
        <h2>{subject || (channel === 'sms' ? 'Text message' : 'Message')}</h2>
        <span class="quiet">
          <Moment at={created_at} />
        </span>
      </div>
      <p class="quiet">To {recipient}</p>
      <p>{text}</p>
      {link !== null && (
        <p class="row">
          <a class="row" href={link} target="_blank" rel="noopener noreferrer">
            {link_text}
            <Icon name="link" />
            <span class="unseen"> for {recipient}, in a new tab</span>
          </a>
          <CopyButton text={link} what={`the link for ${recipient}`} bare />
        </p>
      )}
      {code !== null && (
        <p class="row">
          {link !== null && 'Or enter the code'} <code class="message-code">{code}</code>
          <CopyButton text={code} what={`the code for ${recipient}`} bare />
        </p>
      )}
      {redirect_to !== null && (
        <p class="quiet">
          The link leads to <code>{redirect_to}</code>
        </p>
      )}
    </li>
  )
}
