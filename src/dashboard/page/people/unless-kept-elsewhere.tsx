/** Stands in the place of what a live auth backend keeps for itself. */
import type { ComponentChildren } from 'preact'
import { useConfig } from '../config.jsx'
import { Empty } from '../widgets/empty.jsx'

export function UnlessKeptElsewhere({ children }: { readonly children: ComponentChildren }) {
  if (useConfig().auth_mode === 'local') return <>{children}</>
  return (
    <Empty title="The live backend keeps these">
      <p>
        With <code>auth.mode: proxy</code> its users and messages stay with it. Look at them in its own dashboard.
      </p>
    </Empty>
  )
}
