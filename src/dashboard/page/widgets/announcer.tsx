/** Announces changes on the page to screen readers. */
import { useEffect } from 'preact/hooks'
import { createShared } from './shared.js'

/** How long a message stays. It is removed so that screen readers do not find it again later. */
const STAYS_MS = 5000

const announced = createShared('')

/** Announces `text`. */
export const announce = announced.set

/** The live region. There is one on the page. */
export function Announcer() {
  const text = announced.use()
  useEffect(() => {
    const timer = setTimeout(() => announced.set(''), STAYS_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <div role="status" class="unseen">
      {text}
    </div>
  )
}
