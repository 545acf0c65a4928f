/** The shared parts of user and model turns: the head, the text, and the form that edits it. */
import type { ComponentChildren, RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../widgets/button.jsx'
import { TextArea } from '../widgets/fields.jsx'
import { Icon, type IconName } from '../widgets/icon.jsx'

interface Props {
  readonly who: string
  readonly children: ComponentChildren
}

export function TurnHead({ who, children }: Props) {
  return (
    <div class="turn-head row spread">
      <h2 class="quiet">{who}</h2>
      <div class="turn-actions row">{children}</div>
    </div>
  )
}

interface ActionProps {
  readonly icon: IconName
  readonly label: string
  readonly onAct: () => void
  readonly button?: RefObject<HTMLButtonElement | null>
}

export function TurnAction({ icon, label, onAct, button }: ActionProps) {
  return (
    <button
      ref={button ?? null}
      type="button"
      class="button button-bare"
      aria-label={label}
      title={label}
      onClick={onAct}
    >
      <Icon name={icon} />
    </button>
  )
}

/** Long texts are split into blocks at line ends, so that a growing text only re-renders its last block. */
const BLOCK = 4000

/** A model's output as plain text. */
export function Said({ text }: { readonly text: string }) {
  return (
    <div class="said as-written">
      {blocksOf(text).map((block, place) => (
        // Blocks never change places.
        <div key={place}>{block}</div>
      ))}
    </div>
  )
}

function blocksOf(text: string): readonly string[] {
  const blocks: string[] = []
  let start = 0
  for (;;) {
    const end = text.indexOf('\n', start + BLOCK)
    if (end < 0) return [...blocks, text.slice(start)]
    blocks.push(text.slice(start, end + 1))
    start = end + 1
  }
}

interface EditFormProps {
  readonly label: string
  readonly text: string
  /** The label of the button. */
  readonly done: string
  readonly onDone: (text: string) => void
  readonly onCancel: () => void
}

/** Edits the text of a turn in place. */
export function EditForm({ label, text, done, onDone, onCancel }: EditFormProps) {
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
    <form ref={form} class="stack" onSubmit={submit}>
      <TextArea label={label} bare value={written} onChange={setWritten} onKeyDown={onKeyDown} />
      <div class="form-buttons row">
        <Button small onClick={onCancel}>
          Cancel
        </Button>
        <button type="submit" class="button button-small button-main">
          {done}
        </button>
      </div>
    </form>
  )
}

/** Whether a turn's text is being edited. Afterwards the focus returns to where editing began. */
export function useEditing() {
  const [isEdited, setEdited] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const wasEdited = useRef(false)
  useLayoutEffect(() => {
    if (wasEdited.current && !isEdited) button.current?.focus()
    wasEdited.current = isEdited
  }, [isEdited])
  return { isEdited, button, begin: () => setEdited(true), end: () => setEdited(false) }
}
