/** The outbox for tests: emails and text messages that a live backend would have sent. */
import { inspect } from 'node:util'
import * as v from 'valibot'
import { closed, optional, word } from '../check/forms.js'
import type { MessageRow } from '../state/rows.js'
import { formatPhone } from '../supabase/users.js'
import type { Door } from './door.js'
import { aText, inputCheck, milliseconds } from './input-check.js'
import type { WaitOptions } from './journal.js'
import { DEFAULT_TIMEOUT_MS, eventually } from './waiting.js'

export interface OutboxMessage {
  readonly id: string
  /** The address or phone number. */
  readonly to: string
  /** The purpose: `signup`, `magiclink`, `recovery`. */
  readonly type: string
  readonly channel: 'email' | 'sms'
  readonly subject: string
  /** The code to enter, if the message has one. */
  readonly code: string | null
  /** The link to follow, if the message has one. */
  readonly link: string | null
  /** When a live backend would have sent it, as ISO 8601. */
  readonly at: string
}

export interface MessageFilter {
  readonly to?: string | RegExp | undefined
  readonly type?: string | undefined
  readonly channel?: OutboxMessage['channel'] | undefined
}

const filterOf = inputCheck(
  'outbox',
  closed({
    to: optional(v.union([aText, v.instance(RegExp)], 'text or a regular expression'), 'The recipient.'),
    type: optional(aText, 'The type of the message.'),
    channel: optional(word(['email', 'sms']), 'The channel: email or sms.'),
  }),
)
const outboxWait = inputCheck('outbox.waitFor', closed({ timeoutMs: optional(milliseconds, 'How long to wait.') }))

export interface Outbox {
  /** Matching messages, the newest first; all of them without a filter. */
  messages(filter?: MessageFilter): Promise<readonly OutboxMessage[]>
  /** The newest match, at once if it has already arrived. On a timeout it rejects and lists what arrived instead. */
  waitFor(filter?: MessageFilter, options?: WaitOptions): Promise<OutboxMessage>
  clear(): Promise<void>
}

type SentMessage = Omit<MessageRow, 'used_at'>

export function createOutbox({ control, watchOutbox }: Door): Outbox {
  const messages: Outbox['messages'] = async (filter = {}) => {
    const wanted = filterOf(filter)
    const { data } = await control('GET /outbox')
    return data.map(messageOf).filter(message => matchesFilter(message, wanted))
  }

  return {
    messages,
    async waitFor(filter = {}, options = {}) {
      const { timeoutMs = DEFAULT_TIMEOUT_MS } = outboxWait(options)
      const expected = `message matching ${inspect(filter)} arrived within ${timeoutMs} ms`
      return eventually({
        watch: watchOutbox,
        timeoutMs,
        find: async () => (await messages(filter))[0],
        timeoutError: async () => new Error(`No ${expected}.\n${messagesInWords(await messages())}`),
      })
    },
    clear: () => control('DELETE /outbox'),
  }
}

const messageOf = ({ id, recipient, kind, channel, subject, code, link, created_at }: SentMessage): OutboxMessage => ({
  id,
  to: recipient,
  type: kind,
  channel,
  subject,
  code,
  link,
  at: created_at,
})

function matchesFilter(message: OutboxMessage, { to, type, channel }: MessageFilter): boolean {
  if (to instanceof RegExp ? message.to.search(to) < 0 : to !== undefined && addressOf(to) !== message.to) return false
  return (type ?? message.type) === message.type && (channel ?? message.channel) === message.channel
}

/** Normalizes a recipient as the state does: addresses in lower case, phone numbers as digits. */
const addressOf = (to: string) => (to.includes('@') ? to.toLowerCase() : formatPhone(to))

function messagesInWords(messages: readonly OutboxMessage[]): string {
  if (messages.length === 0) return 'The outbox is empty.'
  return [
    'Received:',
    ...messages.map(({ channel, type, to, subject }) => `  ${channel} ${type} to ${to} · ${subject}`),
  ].join('\n')
}
