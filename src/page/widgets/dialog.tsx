/** Dialogs on the browser's own `<dialog>`: Escape closes them, and focus returns to where it was. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Form } from './form.jsx'
import { goOnFromHeading } from './view.jsx'

interface Props {
  readonly title: string
  /** Called when it has closed, however that came. */
  readonly onClosed: () => void
  /** `close` closes it. */
  readonly children: (close: () => void) => ComponentChildren
}

export function Dialog({ title, onClosed, children }: Props) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const closed = () => {
    onClosed()
    // What opened it may be gone by now.
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
  /** What the button says that does it. */
  readonly send: string
  readonly tone?: 'main' | 'danger'
  readonly onSend: () => Promise<unknown>
  /** Called when it is done and the dialog has gone. */
  readonly onDone?: () => void
  readonly onClosed: () => void
  readonly children: ComponentChildren
}

/** Asks whether somebody means it, and does it then. */
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
