/** A message that a live backend would have sent. */
import type { MessageJson } from '../../wire.js'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Icon } from '../widgets/icon.jsx'
import { Moment } from '../widgets/moment.jsx'

export function Message({ of: { subject, recipient, channel, code, link, created_at } }: { readonly of: MessageJson }) {
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
