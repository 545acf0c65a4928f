/** What decides the next answer, always in view. */
import { useConfig } from '../config.jsx'

export function Strip() {
  const { mode } = useConfig()
  return (
    <div class="strip">
      <span class="strip-button">{mode}</span>
    </div>
  )
}
