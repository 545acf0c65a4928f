/** Asks whether somebody means it, and does it then. */
import type { ComponentChildren } from 'preact'
import { Dialog } from '../widgets/dialog.jsx'
import { Form } from '../widgets/form.jsx'

interface Props {
  readonly title: string
  /** What the button says that does it. */
  readonly send: string
  readonly tone?: 'main' | 'danger'
  readonly onSend: () => Promise<void>
  readonly onClosed: () => void
  readonly children: ComponentChildren
}

export function ConfirmDialog({ title, send, tone = 'main', onSend, onClosed, children }: Props) {
  return (
    <Dialog title={title} onClosed={onClosed}>
      {close => (
        <Form
          send={send}
          tone={tone}
          onSend={async () => {
            await onSend()
            close()
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
