/** The conversation with a model, read from bodies of any form, and bodies as they were sent. Always plain text; long texts are cut. */
import { chunkIn, createSum } from '../../../chat/reader.js'
import { eventsIn, indented, isObject } from '../widgets/json.js'
import { Scrolling } from '../widgets/view.jsx'
import { count } from '../wording.js'

type ChatTurn = ReturnType<typeof turnOf>

/** The messages of a chat request; empty for any other body. */
export function turnsAsked(body: unknown): readonly ChatTurn[] {
  const messages = memberOf(body, 'messages')
  return Array.isArray(messages) ? messages.map(turnOf) : []
}

/** Parameters that are shown elsewhere: the messages as a conversation, the tools by their names. */
const shownElsewhere = new Set(['messages', 'tools', 'functions'])

/** The parameters of a chat request, as JSON; empty for any other body. */
export function parametersIn(body: unknown): readonly (readonly [name: string, value: string])[] {
  if (!Array.isArray(memberOf(body, 'messages'))) return []
  return Object.entries(body as object).flatMap(([name, value]) =>
    shownElsewhere.has(name) || value === null
      ? []
      : [[name, typeof value === 'string' ? value : JSON.stringify(value)] as const],
  )
}

/** The names of the tools that a chat request offers. */
export function toolsIn(body: unknown): readonly string[] {
  const tools = ['tools', 'functions'].flatMap(name => {
    const list = memberOf(body, name)
    return Array.isArray(list) ? list : []
  })
  return tools.map(
    tool => words(memberOf(memberOf(tool, 'function') ?? memberOf(tool, 'custom') ?? tool, 'name')) || 'unnamed',
  )
}

/** The choices of a chat completion, whole or streamed; empty for any other body. */
export function turnsAnswered(body: unknown): readonly ChatTurn[] {
  const choices = typeof body === 'string' ? streamed(body) : memberOf(body, 'choices')
  const messages = Array.isArray(choices) ? choices.map(choice => memberOf(choice, 'message')) : []
  return messages.flatMap(message => (typeof message === 'object' && message !== null ? [turnOf(message)] : []))
}

/** Assembles the chunks of a stream into choices. The end of the stream may be missing. */
function streamed(text: string): unknown {
  const sum = createSum()
  for (const json of eventsIn(text)) {
    const chunk = chunkIn(json)
    if (chunk) sum.add(chunk)
  }
  return sum.completion().choices
}

const turnOf = (message: unknown) => ({
  role: words(memberOf(message, 'role')) || 'unknown',
  text: contentText(memberOf(message, 'content')) || words(memberOf(message, 'refusal')),
  calls: callsIn(memberOf(message, 'tool_calls')),
  pictures: picturesIn(memberOf(message, 'content')),
})

/** Pictures that are in the message itself. Others are never loaded, since that would tell somebody. */
function picturesIn(content: unknown): readonly string[] {
  if (!Array.isArray(content)) return []
  return content.map(part => words(memberOf(memberOf(part, 'image_url'), 'url'))).filter(isPicture)
}

const isPicture = (url: string) => /^data:image\/(png|jpeg|gif|webp);base64,/.test(url)

/** The text of a message's content. Parts without text are named by their type, unless they are pictures to show. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .filter(part => picturesIn([part]).length === 0)
    .map(part => words(memberOf(part, 'text')) || `[${words(memberOf(part, 'type')) || 'part'}]`)
    .join('\n')
}

function callsIn(calls: unknown) {
  if (!Array.isArray(calls)) return []
  return calls.map(call => {
    const called = memberOf(call, 'function') ?? memberOf(call, 'custom')
    return {
      name: words(memberOf(called, 'name')) || 'something',
      arguments: words(memberOf(called, 'arguments')) || words(memberOf(called, 'input')),
    }
  })
}

const words = (value: unknown) => (typeof value === 'string' ? value : '')

const memberOf = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined)

/** The most characters of a text that are shown. More would slow the page down. */
const SHOWN = 300_000

/** The body as sent; JSON is indented. */
export const textOf = (body: unknown) => (typeof body === 'string' ? body : indented(body))

/** A body as it is: a picture, JSON that folds, or text. */
export function BodyView({ label, body }: { readonly label: string; readonly body: unknown }) {
  if (typeof body === 'string') return isPicture(body) ? <Picture of={body} /> : <LongText label={label} text={body} />
  return (
    <div class="body-text">
      <Scrolling label={label}>
        <div class="json">
          <Json value={body} depth={0} />
        </div>
      </Scrolling>
    </div>
  )
}

const Picture = ({ of: url }: { readonly of: string }) => <img class="picture" src={url} alt="Sent with the request" />

/** More members would slow the page down. */
const MEMBERS = 500
/** Deeper values are folded at first. */
const OPEN_DEPTH = 2

function Json({ value, depth }: { readonly value: unknown; readonly depth: number }) {
  if (typeof value !== 'object' || value === null) return <code>{JSON.stringify(value).slice(0, SHOWN)}</code>
  const isList = Array.isArray(value)
  const members = Object.entries(value)
  const [begin, end] = isList ? '[]' : '{}'
  if (members.length === 0) return <code>{isList ? '[]' : '{}'}</code>
  const short = JSON.stringify(value)
  if (short.length < 60 && depth > 0) return <code>{short}</code>
  return (
    <details open={depth < OPEN_DEPTH}>
      <summary>
        <code>
          {begin} <span class="quiet">{count(members.length)}</span> {end}
        </code>
      </summary>
      <ul>
        {members.slice(0, MEMBERS).map(([name, member]) => (
          <li key={name}>
            {!isList && <code class="quiet">{name}: </code>}
            <Json value={member} depth={depth + 1} />
          </li>
        ))}
      </ul>
      {members.length > MEMBERS && <p class="quiet">{count(members.length - MEMBERS)} more.</p>}
    </details>
  )
}

export function LongText({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <div class="body-text">
      <Scrolling label={label}>
        <pre>
          <code>{text.slice(0, SHOWN)}</code>
        </pre>
      </Scrolling>
      <MoreLeft text={text} />
    </div>
  )
}

function MoreLeft({ text }: { readonly text: string }) {
  if (text.length <= SHOWN) return null
  return <p class="hint quiet">{count(text.length - SHOWN)} more characters are not shown here.</p>
}

const TURNS = 500

interface ConversationProps {
  readonly turns: readonly ChatTurn[]
  /** How many of them the step before had; those after it are new. */
  readonly known: number
}

export function Conversation({ turns, known }: ConversationProps) {
  const hidden = Math.max(0, turns.length - TURNS)
  return (
    <>
      {hidden > 0 && <p class="hint quiet">{count(hidden)} earlier messages are not shown here.</p>}
      <ol class="spoken stack">
        {turns.slice(hidden).map(({ role, text, calls, pictures }, index) => (
          <li key={index}>
            <span class="row-detail">
              {role}
              {known > 0 && index + hidden >= known && <span class="accent"> ● new</span>}
            </span>
            {text !== '' && (
              <p dir="auto" class="as-written">
                {text.slice(0, SHOWN)}
              </p>
            )}
            {pictures.map((url, nth) => (
              <Picture key={nth} of={url} />
            ))}
            <MoreLeft text={text} />
            {calls.map((call, nth) => (
              <p key={nth} class="as-written">
                →{' '}
                <code>
                  {call.name}({call.arguments.slice(0, SHOWN)})
                </code>
              </p>
            ))}
          </li>
        ))}
      </ol>
    </>
  )
}
