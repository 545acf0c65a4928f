/** Dialogs based on the browser's `<dialog>`: Escape closes them, and the focus returns to where it was. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Form } from './form.jsx'
import { goOnFromHeading } from './view.jsx'

interface Props {
  readonly title: string
  /** Called when the dialog has closed for any reason. */
  readonly onClosed: () => void
  /** `close` closes the dialog. */
  readonly children: (close: () => void) => ComponentChildren
}

export function Dialog({ title, onClosed, children }: Props) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const closed = () => {
    onClosed()
    // The element that opened it may be gone.
    if (document.activeElement === document.body) goOnFromHeading()
  }
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={closed}>
      <h2 id={id}>{title}</h2>
      {children(() => dialog.current?.close())}
    </dialog>
  )
}

interface ConfirmDialogProps {
  readonly title: string
  /** The label of the button that confirms. */
  readonly send: string
  readonly tone?: 'main' | 'danger'
  readonly onSend: () => Promise<unknown>
  /** Called after the action has succeeded and the dialog has closed. */
  readonly onDone?: () => void
  readonly onClosed: () => void
  readonly children: ComponentChildren
}

/** Asks for confirmation, then runs an action. */
export function ConfirmDialog({ title, send, tone = 'main', onSend, onDone, onClosed, children }: ConfirmDialogProps) {
  return (
    <Dialog title={title} onClosed={onClosed}>
      {close => (
        <Form
          send={send}
          tone={tone}
          onSend={async () => {
            await onSend()
            close()
            onDone?.()
          }}
          beside={
            <button type="button" class="button" onClick={close}>
              Cancel
            </button>
          }
        >
          {children}
        </Form>
      )}
    </Dialog>
  )
}
