/** Dialogs, which are `<dialog>`: Escape closes them, and the focus returns to where it was. */
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useId, useLayoutEffect, useRef } from 'preact/hooks'
import { useNavigation } from '../routing.jsx'
import { Button } from './button.jsx'
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

const Close = createContext<(() => void) | undefined>(undefined)

/** Closes the dialog around the component; `undefined` outside of dialogs. */
export const useClose = () => useContext(Close)

export const CloseButton = ({ children = 'Cancel' }: { readonly children?: string }) => (
  <Button onClick={useClose()}>{children}</Button>
)

interface Props {
  readonly title: string
  readonly wide?: boolean
  readonly children: ComponentChildren
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
      <Close.Provider value={() => dialog.current?.close()}>{children}</Close.Provider>
    </dialog>
  )
}
