/** The body of a request or response as sent, and conversations. Always plain text; long texts are cut. */
import { Scrolling } from '../widgets/code-block.jsx'
import { indented } from '../widgets/json.js'
import { count } from '../wording.js'
import type { ChatTurn } from './conversation.js'

/** The most characters of a text that are shown. More would slow the page down. */
const SHOWN = 20_000

/** The body as sent; JSON is indented. */
export const textOf = (body: unknown) => (typeof body === 'string' ? body : indented(body))

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

/** The most turns that are shown. */
const TURNS = 40

export function Conversation({ turns }: { readonly turns: readonly ChatTurn[] }) {
  const hidden = Math.max(0, turns.length - TURNS)
  return (
    <>
      {hidden > 0 && <p class="hint quiet">{count(hidden)} earlier messages are not shown here.</p>}
      <ol class="spoken stack">
        {turns.slice(hidden).map(({ role, text, calls }, index) => (
          <li key={index}>
            <span class="row-detail">{role}</span>
            {text !== '' && (
              <p dir="auto" class="as-written">
                {text.slice(0, SHOWN)}
              </p>
            )}
            <MoreLeft text={text} />
            {calls.map((call, nth) => (
              <p key={nth} class="as-written">
                calls{' '}
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
