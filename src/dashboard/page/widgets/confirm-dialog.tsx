/** Asks whether somebody means it, and does it then. */
import type { ComponentChildren } from 'preact'
import { Dialog } from './dialog.jsx'
import { Form } from './form.jsx'

interface Props {
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

export function ConfirmDialog({ title, send, tone = 'main', onSend, onDone, onClosed, children }: Props) {
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
