/** Dialogs, which are `<dialog>`: Escape closes them, and the focus returns to where it was. */
import type { ComponentChildren, ComponentProps } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { useNavigation } from '../routing.jsx'
import { Button } from './button.jsx'
import { Form } from './fields.jsx'
import { createShared } from './shared.js'
import { focusHeading } from './view.jsx'

const opened = createShared<ComponentChildren>(undefined)

/** Opens a dialog from any handler, and replaces an open one. Views need no state for it. */
export const openDialog = (content: ComponentChildren): void => {
  opened.set(undefined)
  // The one before is removed first, so that its elements are not used again.
  queueMicrotask(() => opened.set(content))
}

/** The place for the open dialog. There is one on the page. Navigation closes the dialog. */
export function OpenDialog() {
  useNavigation(() => opened.set(undefined))
  return <>{opened.use()}</>
}

interface Props {
  readonly title: string
  readonly wide?: boolean
  readonly children: (close: () => void) => ComponentChildren
}

export function Dialog({ title, wide = false, children }: Props) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const own = useRef(opened.get())
  useLayoutEffect(() => dialog.current?.showModal(), [])
  const closed = () => {
    // When its close event arrives, the next one may be open already.
    if (opened.get() === own.current) opened.set(undefined)
    // What opened the dialog may be gone.
    if (document.activeElement === document.body) focusHeading()
  }
  return (
    <dialog ref={dialog} class={wide ? 'dialog-wide' : undefined} aria-labelledby={id} onClose={closed}>
      <h2 id={id}>{title}</h2>
      {children(() => dialog.current?.close())}
    </dialog>
  )
}

interface ConfirmProps<Result> {
  readonly title: string
  readonly send: string
  readonly tone?: 'main' | 'danger'
  readonly onSend: () => Promise<Result>
  /** Called after the action has succeeded and the dialog has closed. */
  readonly onDone?: (result: Result) => void
  /** Announced after the action has succeeded. */
  readonly said?: string
  /** An explanation, and fields if the action needs input. */
  readonly children?: ComponentChildren
}

/** A dialog that asks, with or without fields, and then runs an action. */
export function Confirm<Result>({ title, send, tone, onSend, onDone, said, children }: ConfirmProps<Result>) {
  const sendFrom = (close: () => void) => async () => {
    const result = await onSend()
    close()
    onDone?.(result)
  }
  return (
    <Dialog title={title}>
      {close => (
        <Form
          send={send}
          tone={tone ?? 'main'}
          said={said}
          onSend={sendFrom(close)}
          beside={<Button onClick={close}>Cancel</Button>}
        >
          {children}
        </Form>
      )}
    </Dialog>
  )
}

/** Asks for confirmation, then runs an action, usually one that deletes something. */
export const ask = (question: ConfirmProps<unknown>): void => openDialog(<Confirm tone="danger" {...question} />)

interface AskButtonProps
  extends ConfirmProps<unknown>,
    Pick<ComponentProps<typeof Button>, 'small' | 'push' | 'about'> {
  readonly label: string
}

/** A button that asks for confirmation before it deletes something. */
export const AskButton = ({ label, small = false, push = false, about, ...question }: AskButtonProps) => (
  <Button tone="warns" small={small} push={push} about={about} onClick={() => ask(question)}>
    {label}
  </Button>
)
