/** What the user really said in a chat, without what agents put around it: it titles exchanges, runs and recordings. */
import { isObject } from '../core/json.js'

/** The tags in which agents put the user's own words. */
const ownWords = /^(user[-_]?(query|request|message|input|prompt)|query|question|request|task|prompt)$/i

type Message = Readonly<Record<string, unknown>>

/** The messages in the body of a chat; none in any other body. */
export const messagesIn = (body: unknown): readonly Message[] =>
  isObject(body) && Array.isArray(body.messages) ? body.messages.filter(isObject) : []

/** The text of the last message of the user that says something; `undefined` without any. Never throws. */
export function saidByUser(messages: readonly unknown[]): string | undefined {
  const texts = messages.flatMap(message => (isObject(message) && message.role === 'user' ? [textsOf(message)] : []))
  const said = texts.map(parts => parts.map(withoutPreamble).filter(Boolean).join(' '))
  // A message of nothing but reminders is better than none.
  return said.findLast(Boolean) ?? texts.at(-1)?.join(' ')
}

function textsOf({ content }: Message): readonly string[] {
  const parts = Array.isArray(content) ? content.map(part => (isObject(part) ? part.text : undefined)) : [content]
  return parts.filter(text => typeof text === 'string')
}

/**
 * The text after the elements with which it begins, such as `<system-reminder>` and `<env>`; or the content of one of them, if
 * that is the user's. Nothing if it is all preamble.
 */
function withoutPreamble(text: string): string {
  const opening = /\s*<([a-z][\w-]*)(?:\s[^<>]*)?>/iy
  let end = 0
  for (let found = opening.exec(text); found; found = opening.exec(text)) {
    const [all, tag = ''] = found
    const close = text.indexOf(`</${tag}>`, end + all.length)
    if (close < 0) break
    const inner = text.slice(end + all.length, close).trim()
    if (ownWords.test(tag) && inner !== '') return inner
    end = close + tag.length + 3
    opening.lastIndex = end
  }
  return text.slice(end).trim()
}
