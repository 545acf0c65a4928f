/** Dialogs based on the browser's `<dialog>`: Escape closes them, and the focus returns to where it was. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { announce } from './announcer.jsx'
import { Button } from './button.jsx'
import { Form } from './form.jsx'
import { createShared } from './shared.js'
import { goOnFromHeading } from './view.jsx'

interface Props {
  readonly title: string
  /** Called when the dialog has closed for any reason. */
  readonly onClosed: () => void
  /** Whether something was typed that closing would throw away. Escape and `close` ask first then. */
  readonly isEdited?: boolean
  readonly wide?: boolean
  /** `close` closes the dialog. `finish` closes it without asking, when its work is done. */
  readonly children: (close: () => void, finish: () => void) => ComponentChildren
}

export function Dialog({ title, onClosed, isEdited = false, wide = false, children }: Props) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  // Counted, since Escape may be pressed again before the event of the last question's end has arrived.
  const [question, setQuestion] = useState(0)
  useLayoutEffect(() => dialog.current?.showModal(), [])
  const finish = () => dialog.current?.close()
  const ask = () => setQuestion(last => last + 1)
  const close = () => (isEdited ? ask() : finish())
  const closed = ({ target }: Event) => {
    // A dialog within it closes, too.
    if (target !== dialog.current) return
    onClosed()
    // The element that opened it may be gone.
    if (document.activeElement === document.body) goOnFromHeading()
  }
  // Escape is held back as a key, because browsers close at the second `cancel` in a row, whatever the page says.
  const leave = (event: Event) => {
    const isOfQuestion = (event.target as Element).closest('dialog') !== dialog.current
    if (!isEdited || isOfQuestion) return
    event.preventDefault()
    ask()
  }
  return (
    <dialog
      ref={dialog}
      class={wide ? 'dialog-wide' : undefined}
      aria-labelledby={id}
      onClose={closed}
      onCancel={leave}
      onKeyDown={event => event.key === 'Escape' && leave(event)}
    >
      <h2 id={id}>{title}</h2>
      {children(close, finish)}
      {question > 0 && (
        <Confirm
          key={question}
          title="Discard your changes?"
          send="Discard"
          cancel="Keep editing"
          tone="danger"
          onSend={async () => {}}
          onDone={finish}
          onClosed={() => setQuestion(now => (now === question ? 0 : now))}
        />
      )}
    </dialog>
  )
}

/** The button of a dialog whose work is done. Takes the focus, because the element that had it is gone. */
export const Done = ({ onClick }: { readonly onClick: () => void }) => (
  <button type="button" class="button button-main" ref={button => button?.focus()} onClick={onClick}>
    Done
  </button>
)

interface ConfirmProps<Result> {
  readonly title: string
  /** The label of the button that confirms. */
  readonly send: string
  readonly cancel?: string
  readonly tone?: 'main' | 'danger'
  readonly onSend: () => Promise<Result>
  /** Called after the action has succeeded and the dialog has closed. */
  readonly onDone?: (result: Result) => void
  readonly onClosed: () => void
  /** Whether a field in it was edited. */
  readonly isEdited?: boolean
  /** What happens, and fields if the action needs any. */
  readonly children?: ComponentChildren
}

/** A dialog that asks, with fields or without, then runs an action. */
export function Confirm<Result>({
  title,
  send,
  cancel = 'Cancel',
  tone = 'main',
  children,
  ...more
}: ConfirmProps<Result>) {
  const { onSend, onDone, onClosed, isEdited = false } = more
  return (
    <Dialog title={title} onClosed={onClosed} isEdited={isEdited}>
      {(close, finish) => (
        <Form
          send={send}
          tone={tone}
          onSend={async () => {
            const result = await onSend()
            finish()
            onDone?.(result)
          }}
          beside={<Button onClick={close}>{cancel}</Button>}
        >
          {children}
        </Form>
      )}
    </Dialog>
  )
}

interface Question {
  readonly title: string
  /** The label of the button that confirms. */
  readonly send: string
  readonly tone?: 'main' | 'danger'
  /** What happens. */
  readonly words?: ComponentChildren
  readonly act: () => Promise<unknown>
  /** Called after the action has succeeded and the dialog has closed. */
  readonly done?: () => void
  /** Announced then. */
  readonly said?: string
}

const asked = createShared<(Question & { readonly id: number }) | undefined>(undefined)
let questions = 0

/** Asks for confirmation, then runs an action. */
export const ask = (question: Question): void => asked.set({ ...question, id: ++questions })

const forget = () => asked.set(undefined)

/** The question that is open. There is one on the page, and it goes when the user goes to another view. */
export function Asked() {
  const question = asked.use()
  useEffect(() => {
    addEventListener('popstate', forget)
    return () => removeEventListener('popstate', forget)
  }, [])
  if (!question) return null
  const { id, title, send, tone = 'danger', words, act, done, said } = question
  const goOn = () => {
    // What was deleted takes its button along.
    if (tone === 'danger') goOnFromHeading()
    done?.()
    if (said !== undefined) announce(said)
  }
  // By the time it has closed, the next one may be open.
  const closed = () => asked.get()?.id === id && forget()
  return (
    <Confirm key={id} {...{ title, send, tone }} onSend={act} onDone={goOn} onClosed={closed}>
      {words}
    </Confirm>
  )
}
