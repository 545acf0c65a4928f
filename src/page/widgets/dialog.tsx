/** Dialogs based on the browser's `<dialog>`: Escape closes them, and the focus returns to where it was. */
import { type ComponentChildren, type ComponentProps, createContext, type RefObject } from 'preact'
import { useContext, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useNavigation } from '../routing.js'
import { Button } from './button.jsx'
import { Form } from './form.jsx'
import { createShared } from './shared.js'
import { goOnFromHeading } from './view.jsx'

const opened = createShared<{ readonly id: number; readonly content: ComponentChildren } | undefined>(undefined)
let dialogs = 0

/** Asks whether what was typed in the dialog that is open may go; `undefined` where nothing was typed. */
let askFirst: ((go: () => void) => void) | undefined

const onceAllowed = (go: () => void) => (askFirst ? askFirst(go) : go())

/** Opens a dialog from any handler, in place of one that is open. Views need no state for it. */
export const openDialog = (content: ComponentChildren): void =>
  onceAllowed(() => opened.set({ id: ++dialogs, content }))

/** Removes the dialog that is open, without asking. */
export const forgetDialog = (): void => opened.set(undefined)

/** Called when the dialog around it has closed for any reason. */
const Closed = createContext<() => void>(forgetDialog)

/** The dialog that is open. There is one on the page, and it goes when the user goes to another view. */
export function OpenDialog() {
  const dialog = opened.use()
  useNavigation(() => onceAllowed(forgetDialog))
  if (!dialog) return null
  const { id, content } = dialog
  // By the time it has closed, the next one may be open.
  const closed = () => {
    if (opened.get()?.id === id) forgetDialog()
  }
  return (
    <Closed.Provider key={id} value={closed}>
      {content}
    </Closed.Provider>
  )
}

interface Props {
  readonly title: string
  /** Whether something was typed that closing would throw away. Escape, `close`, another dialog and going back ask first then. */
  readonly isEdited?: boolean
  readonly wide?: boolean
  /** `close` closes the dialog. `finish` closes it without asking, when its work is done. */
  readonly children: (close: () => void, finish: () => void) => ComponentChildren
}

/** The question whether edits may be thrown away, and what is to follow if they may. */
function useQuestion(dialog: RefObject<HTMLDialogElement | null>, isEdited: boolean) {
  // Counted, since Escape may be pressed again before the event of the last question's end has arrived.
  const [question, setQuestion] = useState(0)
  const next = useRef<(() => void) | undefined>(undefined)
  const ask = (go?: () => void) => {
    next.current = go
    setQuestion(last => last + 1)
  }
  useLayoutEffect(() => {
    if (!isEdited) return
    // One whose work is done has closed.
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
    // A dialog within it closes, too.
    if (target !== dialog.current) return
    onClosed()
    goOnUnlessOutside(dialog.current)
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
        <Closed.Provider key={question} value={answered}>
          <Discard onDone={discard} />
        </Closed.Provider>
      )}
    </dialog>
  )
}

/** The element that opened a dialog may be gone. The focus is then still in the closed dialog, or nowhere. */
function goOnUnlessOutside(closed: HTMLElement | null): void {
  const { activeElement, body } = document
  if (activeElement === body || closed?.contains(activeElement)) goOnFromHeading()
}

const Discard = ({ onDone }: { readonly onDone: () => void }) => (
  <Confirm
    title="Discard your changes?"
    send="Discard"
    cancel="Keep editing"
    tone="danger"
    onSend={async () => {}}
    onDone={onDone}
  />
)

/** The button of a dialog whose work is done. Takes the focus, because the element that had it is gone. */
export const Done = ({ onClick }: { readonly onClick: () => void }) => (
  <button type="button" class="button button-main" ref={button => button?.focus()} onClick={onClick}>
    Done
  </button>
)

interface ConfirmProps<Result> {
  readonly title: string
  readonly send: string
  readonly cancel?: string
  readonly tone?: 'main' | 'danger'
  readonly onSend: () => Promise<Result>
  /** Called after the action has succeeded and the dialog has closed. */
  readonly onDone?: (result: Result) => void
  /** Announced then. */
  readonly said?: string
  readonly isEdited?: boolean
  /** What happens, and fields if the action needs any. */
  readonly children?: ComponentChildren
}

/** A dialog that asks, with fields or without, then runs an action. */
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
        // What was deleted takes its button along.
        if (tone === 'danger') goOnFromHeading()
        onDone?.(result)
      }}
    />,
  )

interface AskButtonProps
  extends ConfirmProps<unknown>,
    Pick<ComponentProps<typeof Button>, 'small' | 'push' | 'about'> {
  readonly label: string
}

/** A button that asks for confirmation before it takes something away. */
export const AskButton = ({ label, small = false, push = false, about, ...question }: AskButtonProps) => (
  <Button tone="warns" {...{ small, push, about }} onClick={() => ask(question)}>
    {label}
  </Button>
)
