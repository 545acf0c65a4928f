/** Dialogs based on `<dialog>`: Escape closes them, and the focus returns to where it was. */
import { type ComponentChildren, type ComponentProps, createContext } from 'preact'
import { useContext, useId, useLayoutEffect, useRef } from 'preact/hooks'
import { useNavigation } from '../routing.js'
import { Button } from './button.jsx'
import { Form } from './form.jsx'
import { createShared } from './shared.js'
import { Notice } from './states.jsx'
import { focusHeading } from './view.jsx'

const opened = createShared<{ readonly id: number; readonly content: ComponentChildren } | undefined>(undefined)
let dialogs = 0

/** Opens a dialog from any handler, and replaces an open one. Views need no state for it. */
export const openDialog = (content: ComponentChildren): void => opened.set({ id: ++dialogs, content })

/** Removes the open dialog. */
export const removeDialog = (): void => opened.set(undefined)

/** Called when the surrounding dialog has closed, for any reason. */
const Closed = createContext<() => void>(removeDialog)

/** The place for the open dialog. There is one on the page. Navigation closes the dialog. */
export function OpenDialog() {
  const dialog = opened.use()
  useNavigation(removeDialog)
  if (!dialog) return null
  const { id, content } = dialog
  // When its close event arrives, the next one may be open already.
  const closed = () => {
    if (opened.get()?.id === id) removeDialog()
  }
  return (
    <Closed.Provider key={id} value={closed}>
      {content}
    </Closed.Provider>
  )
}

interface Props {
  readonly title: string
  readonly wide?: boolean
  readonly children: (close: () => void) => ComponentChildren
}

export function Dialog({ title, wide = false, children }: Props) {
  const id = useId()
  const onClosed = useContext(Closed)
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => dialog.current?.showModal(), [])
  const closed = () => {
    onClosed()
    focusHeadingIfLost(dialog.current)
  }
  return (
    <dialog ref={dialog} class={wide ? 'dialog-wide' : undefined} aria-labelledby={id} onClose={closed}>
      <h2 id={id}>{title}</h2>
      {children(() => dialog.current?.close())}
    </dialog>
  )
}

/** If the element that opened the dialog is gone, the focus is still in the closed dialog, or nowhere. */
function focusHeadingIfLost(closed: HTMLElement | null): void {
  const { activeElement, body } = document
  if (activeElement === body || closed?.contains(activeElement)) focusHeading()
}

interface FinishedProps {
  readonly onClose: () => void
  readonly beside?: ComponentChildren
  readonly children: ComponentChildren
}

/** The result of a dialog's action. Its button takes the focus, because the element that had it is gone. */
export const Finished = ({ onClose, beside, children }: FinishedProps) => (
  <>
    <Notice tone="good">
      <p class="long-name">{children}</p>
    </Notice>
    <div class="form-buttons row">
      {beside}
      <button type="button" class="button button-main" ref={button => button?.focus()} onClick={onClose}>
        Done
      </button>
    </div>
  </>
)

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
export function Confirm<Result>({ title, send, children, ...more }: ConfirmProps<Result>) {
  const { tone = 'main', onSend, onDone, said } = more
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
          tone={tone}
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

/** Asks for confirmation, then runs an action. */
export const ask = ({ onDone, tone = 'danger', ...question }: ConfirmProps<unknown>): void =>
  openDialog(
    <Confirm
      {...question}
      tone={tone}
      onDone={result => {
        // The button may have been removed with what was deleted.
        if (tone === 'danger') focusHeading()
        onDone?.(result)
      }}
    />,
  )

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
