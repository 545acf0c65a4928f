/** Changes the words of a turn in its place. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { TextArea } from '../widgets/text-area.jsx'

interface Props {
  readonly label: string
  readonly text: string
  /** What its button says. */
  readonly done: string
  readonly onDone: (text: string) => void
  readonly onCancel: () => void
}

export function EditForm({ label, text, done, onDone, onCancel }: Props) {
  const [written, setWritten] = useState(text)
  const form = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => form.current?.querySelector('textarea')?.focus(), [])
  const submit = (event: Event) => {
    event.preventDefault()
    if (written.trim() !== '') onDone(written)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onCancel()
  }
  return (
    <form ref={form} class="edit-form" onSubmit={submit}>
      <TextArea label={label} bare value={written} onChange={setWritten} onKeyDown={onKeyDown} />
      <div class="form-buttons">
        <button type="button" class="button button-small" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" class="button button-small button-main">
          {done}
        </button>
      </div>
    </form>
  )
}
