/** Replies of the usual kind: JSON, made once where it never changes. */
import type { Reply } from '../core/exchange.js'

/** A 200 whose body is `value` as JSON. */
export const jsonReply = (value: unknown): Reply => ({
  kind: 'reply',
  status: 200,
  contentType: 'application/json',
  body: JSON.stringify(value),
})
