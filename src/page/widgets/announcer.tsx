/** Announces changes on the page to screen readers. */
import { useEffect, useState } from 'preact/hooks'

const ANNOUNCED = 'standin-announced'

/** How long a message stays. It is removed so that screen readers do not find it again later. */
const STAYS_MS = 5000

/** Announces `text`. */
export const announce = (text: string) => void dispatchEvent(new CustomEvent(ANNOUNCED, { detail: text }))

/** The live region. There is one on the page. */
export function Announcer() {
  const [text, setText] = useState('')
  useEffect(() => {
    const listen = (event: Event) => setText((event as CustomEvent<string>).detail)
    addEventListener(ANNOUNCED, listen)
    return () => removeEventListener(ANNOUNCED, listen)
  }, [])
  useEffect(() => {
    const timer = setTimeout(() => setText(''), STAYS_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <div role="status" class="unseen">
      {text}
    </div>
  )
}
