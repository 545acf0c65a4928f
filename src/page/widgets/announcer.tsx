/** Tells those who do not see the page what has just happened on it. */
import { useEffect, useState } from 'preact/hooks'

const ANNOUNCED = 'standin-announced'

/** How long it stays: what was read out is not to be met again by whoever reads the page. */
const STAYS_MS = 5000

/** Has `text` read out. */
export const announce = (text: string) => void dispatchEvent(new CustomEvent(ANNOUNCED, { detail: text }))

/** Where it is read from; there is one on the page. */
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
