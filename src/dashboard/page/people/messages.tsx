/** The messages that a live backend would have sent, updated as they arrive. Used and expired ones are marked. */
import { useEffect, useRef } from 'preact/hooks'
import type { Message as SentMessage } from '../../../supabase/operations.js'
import { routes } from '../../routes.js'
import { control } from '../api.js'
import { Link, useAddress } from '../routing.jsx'
import { SearchList, useSearch } from '../search-list.jsx'
import { markSeen } from '../unseen.js'
import { CopyButton, Icon } from '../widgets/button.jsx'
import { AskButton } from '../widgets/fields.jsx'
import { Moment } from '../widgets/moment.jsx'
import { announce } from '../widgets/shared.js'
import { Empty } from '../widgets/states.jsx'
import { Badge, type Tone } from '../widgets/view.jsx'
import { userAt } from './user-states.jsx'

export function Messages() {
  const { query } = useAddress()
  const list = useSearch((query, signal) => control('GET /outbox', { query, signal }), query.get('to') ?? '')
  useArrivals(list.words === '' ? list.value?.data : undefined)
  const wanted = query.get('message')
  const clear = list.value && list.value.data.length > 0 && (
    <AskButton
      label="Clear"
      title="Clear the messages?"
      send="Clear"
      onSend={() => control('DELETE /outbox').then(list.reload)}
      said="There are no messages."
    >
      <p>All messages are deleted. Their codes and links still work until they expire.</p>
    </AskButton>
  )
  return (
    <SearchList
      of={list}
      what="message"
      searches="recipients, subjects and codes"
      action={clear}
      empty={
        <Empty title="Nothing has been sent">
          Confirmations, password resets, invitations and codes appear here as they are sent.
        </Empty>
      }
    >
      {messages => (
        <ol class="lined">
          {messages.map(message => (
            <Message key={message.id} of={message} isWanted={message.id === wanted} />
          ))}
        </ol>
      )}
    </SearchList>
  )
}

/** Announces messages that arrive while the view is open. All messages that are shown count as seen. */
function useArrivals(messages: readonly SentMessage[] | undefined): void {
  const seen = useRef<string | undefined>(undefined)
  const newest = messages?.[0]
  useEffect(() => {
    if (!messages) return
    if (seen.current !== undefined && newest && newest.id !== seen.current)
      announce(`A new message to ${newest.recipient}.`)
    seen.current = newest?.id ?? ''
    if (newest) markSeen(newest.id)
  }, [messages])
}

const states: Record<SentMessage['state'], readonly [tone: Tone, word: string]> = {
  valid: ['good', 'Not used yet'],
  used: ['plain', 'Used'],
  expired: ['care', 'Expired'],
  replaced: ['plain', 'Replaced by a newer one'],
}

interface MessageProps {
  readonly of: SentMessage
  /** Whether the address of the page names it. */
  readonly isWanted: boolean
}

/** A message as its recipient would see it. What no longer works cannot be followed or copied. */
function Message({ of: message, isWanted }: MessageProps) {
  const { subject, recipient, channel, text, code, link, created_at, state, user_id } = message
  const item = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isWanted) item.current?.scrollIntoView({ block: 'center' })
  }, [isWanted])
  const isValid = state === 'valid'
  return (
    <li ref={item} class={isValid ? 'message stack' : 'message stack quiet'} aria-current={isWanted || undefined}>
      <div class="row spread">
        <h2>{subject || (channel === 'sms' ? 'Text message' : 'Message')}</h2>
        <span class="row">
          <Badge tone={states[state][0]}>{states[state][1]}</Badge>
          <span class="quiet">
            <Moment at={created_at} />
          </span>
        </span>
      </div>
      <p class="quiet">
        To {user_id === null ? recipient : <Link to={userAt(user_id)}>{recipient}</Link>} ·{' '}
        <Link to={`${routes.activity}?${new URLSearchParams({ text: recipient })}`}>requests about it</Link>
      </p>
      <p>{text}</p>
      {isValid && link !== null && <MessageLink of={message} to={link} />}
      {code !== null && (
        <p class="row">
          {isValid && link !== null && 'Or enter the code'} <code class="message-code">{code}</code>
          {isValid && <CopyButton text={code} what={`the code for ${recipient}`} bare />}
        </p>
      )}
    </li>
  )
}

/** The link in a message, and where it leads in the end. */
const MessageLink = ({ of, to }: { readonly of: SentMessage; readonly to: string }) => (
  <p class="row">
    <a class="row" href={to} target="_blank" rel="noopener noreferrer">
      {of.link_text}
      <Icon name="link" />
      <span class="unseen"> for {of.recipient}, in a new tab</span>
    </a>
    <CopyButton text={to} what={`the link for ${of.recipient}`} bare />
    {of.redirect_to !== null && (
      <span class="quiet long-name">
        leads to <code>{of.redirect_to}</code>
      </span>
    )}
  </p>
)
