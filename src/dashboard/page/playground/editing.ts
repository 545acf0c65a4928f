/** Whether the words of a turn are being changed; when they are no more, the keyboard goes back to where that began. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

export function useEditing() {
  const [isEdited, setEdited] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const wasEdited = useRef(false)
  useLayoutEffect(() => {
    if (wasEdited.current && !isEdited) button.current?.focus()
    wasEdited.current = isEdited
  }, [isEdited])
  return { isEdited, button, begin: () => setEdited(true), end: () => setEdited(false) }
}
