/** A dialog above the page, on the browser's own `<dialog>`: Escape closes it, and focus returns to where it was. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
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
