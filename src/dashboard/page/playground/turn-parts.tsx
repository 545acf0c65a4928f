/** What user and model turns have in common: the head, the text, and the form that edits it. */
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../widgets/button.jsx'
import { TextArea } from '../widgets/fields.jsx'
import { Form } from '../widgets/form.jsx'
import { capitalized } from '../wording.js'

interface Props {
  readonly kind: 'user' | 'answer'
  readonly who: string
  readonly text: string
  readonly name: string
  readonly isEditable: boolean
  readonly done: string
  readonly onEdited: (text: string) => void
  readonly badge?: ComponentChildren
  readonly actions: ComponentChildren
  readonly busy?: boolean
  readonly before?: ComponentChildren
  readonly children?: ComponentChildren
}

/** A turn whose text can be edited in place. Afterwards, the focus returns to the edit button. */
export function TurnFrame({ kind, who, text, name, isEditable, busy, ...parts }: Props) {
  const [isEdited, setEdited] = useState(false)
  const head = useRef<HTMLDivElement>(null)
  const wasEdited = useRef(false)
  useLayoutEffect(() => {
    if (wasEdited.current && !isEdited) head.current?.querySelector<HTMLElement>('[data-edit]')?.focus()
    wasEdited.current = isEdited
  }, [isEdited])
  const label = `Edit ${name}`
  const { badge, actions, before, children, ...form } = parts
  return (
    <li class={`turn stack turn-${kind}`} aria-busy={busy}>
      <div ref={head} class="turn-head row spread">
        <h2 class="quiet">{who}</h2>
        <div class="turn-actions row">
          {badge}
          {isEditable && !isEdited && (
            <Button
              tone="bare"
              icon="edit"
              data-edit
              aria-label={label}
              title={label}
              onClick={() => setEdited(true)}
            />
          )}
          {actions}
        </div>
      </div>
      {before}
      {isEdited ? (
        <EditForm {...form} text={text} name={name} onEnd={() => setEdited(false)} />
      ) : (
        text !== '' && <ModelText text={text} />
      )}
      {children}
    </li>
  )
}

/** The least size of a block. Long texts are split into blocks, so that a growing text only re-renders the last one. */
const BLOCK = 4000

/** A model's output as plain text. */
export function ModelText({ text }: { readonly text: string }) {
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

interface EditFormProps extends Pick<Props, 'text' | 'name' | 'done' | 'onEdited'> {
  readonly onEnd: () => void
}

function EditForm({ text, name, done, onEdited, onEnd }: EditFormProps) {
  const id = useId()
  const [edited, setEdited] = useState(text)
  useLayoutEffect(() => document.getElementById(id)?.focus(), [])
  const send = async () => {
    if (edited.trim() === '') return
    onEnd()
    onEdited(edited)
  }
  const cancel = (
    <Button small onClick={onEnd}>
      Cancel
    </Button>
  )
  return (
    <Form small send={done} onSend={send} beside={cancel}>
      <TextArea
        id={id}
        label={capitalized(name)}
        bare
        value={edited}
        onChange={setEdited}
        onKeyDown={({ key }) => key === 'Escape' && onEnd()}
      />
    </Form>
  )
}
