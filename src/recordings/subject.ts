/** What a request is about, for the names of files and the comments on top of them. */
import { isObject } from './canonical.js'
import type { RecordedRequest } from './recording.js'

export interface Subject {
  readonly model: string | undefined
  /** The last thing that the user said. */
  readonly said: string | undefined
}

export function subjectOf({ body }: RecordedRequest): Subject {
  const asked = body.kind === 'json' && isObject(body.value) ? body.value : {}
  const messages = Array.isArray(asked.messages) ? asked.messages.filter(isObject) : []
  const last = messages.findLast(({ role }) => role === 'user')
  return { model: typeof asked.model === 'string' ? asked.model : undefined, said: last && textIn(last.content) }
}

/** The text of a message, or of its first part that has some. */
function textIn(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  const parts = Array.isArray(content) ? content.filter(isObject) : []
  return parts.map(({ text }) => text).find(text => typeof text === 'string')
}
