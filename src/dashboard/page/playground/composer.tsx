/** The field for the next message: Enter sends it, Shift+Enter adds a line. */
import { Button } from '../widgets/button.jsx'
import { TextArea } from '../widgets/fields.jsx'
import { edit, stop } from './conversation.js'

interface Props {
  readonly draft: string
  readonly busy: boolean
  readonly awaitsAnswer: boolean
  readonly onSend: (text: string) => void
  readonly isAway: boolean
  readonly onCatchUp: () => void
}

const COMPOSER = 'playground-message'

export const goToComposer = () => document.getElementById(COMPOSER)?.focus()

export function Composer({ draft, busy, awaitsAnswer, onSend, isAway, onCatchUp }: Props) {
  const send = () => {
    if (!busy && (awaitsAnswer || draft.trim() !== '')) onSend(draft)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && busy) stop()
    // Enter also confirms a character in an input method.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    send()
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (busy) stop()
    else send()
    goToComposer()
  }
  return (
    <form class="composer" onSubmit={submit}>
      {isAway && (
        <div class="catch-up">
          <Button small onClick={onCatchUp}>
            Go to the end
          </Button>
        </div>
      )}
      <TextArea
        id={COMPOSER}
        label="Message"
        bare
        rows={1}
        value={draft}
        placeholder="Write a message"
        onChange={text => edit({ draft: text })}
        onKeyDown={onKeyDown}
      />
      <Button type="submit" tone={busy ? undefined : 'main'}>
        {busy ? 'Stop' : 'Send'}
      </Button>
    </form>
  )
}
