/** Dialogs based on `<dialog>`: Escape closes them, and the focus returns to where it was. */
import { type ComponentChildren, type ComponentProps, createContext, type RefObject } from 'preact'
import { useContext, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useNavigation } from '../routing.js'
import { Button } from './button.jsx'
import { Form } from './form.jsx'
import { createShared } from './shared.js'
import { Notice } from './states.jsx'
import { focusHeading } from './view.jsx'

const opened = createShared<{ readonly id: number; readonly content: ComponentChildren } | undefined>(undefined)
let dialogs = 0

/** Asks whether to discard the edits in the open dialog; `undefined` if there are none. */
let askFirst: ((go: () => void) => void) | undefined

const ifAllowed = (go: () => void) => (askFirst ? askFirst(go) : go())

/** Opens a dialog from any handler, and replaces an open one. Views need no state for it. */
export const openDialog = (content: ComponentChildren): void => ifAllowed(() => opened.set({ id: ++dialogs, content }))

/** Removes the open dialog without asking. */
export const removeDialog = (): void => opened.set(undefined)

/** Called when the surrounding dialog has closed, for any reason. */
const Closed = createContext<() => void>(removeDialog)

/** The place for the open dialog. There is one on the page. Navigation closes the dialog. */
export function OpenDialog() {
  const dialog = opened.use()
  useNavigation(() => ifAllowed(removeDialog))
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
  /** Whether closing would discard edits. If so, Escape, `close`, another dialog and going back ask first. */
  readonly isEdited?: boolean
  readonly wide?: boolean
  /** `close` asks first if there are edits; `finish` never does. */
  readonly children: (close: () => void, finish: () => void) => ComponentChildren
}

/** The question whether to discard the edits, and what to do afterwards. */
function useQuestion(dialog: RefObject<HTMLDialogElement | null>, isEdited: boolean) {
  // A counter, since Escape may be pressed again before the close event of the last question has arrived.
  const [question, setQuestion] = useState(0)
  const next = useRef<(() => void) | undefined>(undefined)
  const ask = (go?: () => void) => {
    next.current = go
    setQuestion(last => last + 1)
  }
  useLayoutEffect(() => {
    if (!isEdited) return
    // A dialog that has finished is closed already.
    const asking = (go: () => void) => (dialog.current?.open ? ask(go) : go())
    askFirst = asking
    return () => {
      if (askFirst === asking) askFirst = undefined
    }
  }, [isEdited])
  const answered = () => setQuestion(now => (now === question ? 0 : now))
  const discard = () => {
    dialog.current?.close()
    next.current?.()
  }
  return { question, ask, answered, discard }
}

export function Dialog({ title, isEdited = false, wide = false, children }: Props) {
  const id = useId()
  const onClosed = useContext(Closed)
  const dialog = useRef<HTMLDialogElement>(null)
  const { question, ask, answered, discard } = useQuestion(dialog, isEdited)
  useLayoutEffect(() => dialog.current?.showModal(), [])
  const finish = () => dialog.current?.close()
  const close = () => (isEdited ? ask() : finish())
  const closed = ({ target }: Event) => {
    // Close events of a nested dialog arrive here, too.
    if (target !== dialog.current) return
    onClosed()
    focusHeadingIfLost(dialog.current)
  }
  // Escape is handled as a key, because browsers close at the second `cancel` in a row even if it is prevented.
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
        <Closed.Provider key={question} value={answered}>
          <Confirm
            title="Discard your changes?"
            send="Discard"
            cancel="Keep editing"
            tone="danger"
            onSend={async () => {}}
            onDone={discard}
          />
        </Closed.Provider>
      )}
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
  readonly cancel?: string
  readonly tone?: 'main' | 'danger'
  readonly onSend: () => Promise<Result>
  /** Called after the action has succeeded and the dialog has closed. */
  readonly onDone?: (result: Result) => void
  /** Announced after the action has succeeded. */
  readonly said?: string
  readonly isEdited?: boolean
  /** An explanation, and fields if the action needs input. */
  readonly children?: ComponentChildren
}

/** A dialog that asks, with or without fields, and then runs an action. */
export function Confirm<Result>({ title, send, children, ...more }: ConfirmProps<Result>) {
  const { cancel = 'Cancel', tone = 'main', onSend, onDone, said, isEdited = false } = more
  const sendFrom = (finish: () => void) => async () => {
    const result = await onSend()
    finish()
    onDone?.(result)
  }
  return (
    <Dialog title={title} isEdited={isEdited}>
      {(close, finish) => (
        <Form {...{ send, tone, said }} onSend={sendFrom(finish)} beside={<Button onClick={close}>{cancel}</Button>}>
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
  <Button tone="warns" {...{ small, push, about }} onClick={() => ask(question)}>
    {label}
  </Button>
)
