/** Tabs, with the keyboard support of the WAI-ARIA "Tabs pattern". */
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { navigate, useAddress } from '../routing.js'

interface Props {
  readonly label: string
  readonly tabs: readonly { readonly name: string; readonly content: ComponentChildren }[]
  /** The parameter of the address that keeps the chosen tab, by its name in lower case. */
  readonly at?: string
}

export function Tabs({ label, tabs, at }: Props) {
  const id = useId()
  const { path, query } = useAddress()
  const [own, setOwn] = useState(0)
  const named = at === undefined ? -1 : tabs.findIndex(({ name }) => name.toLowerCase() === query.get(at))
  const chosen = at === undefined ? own : Math.max(named, 0)

  function setChosen(to: number): void {
    if (at === undefined) setOwn(to)
    else navigate(`${path}?${new URLSearchParams({ [at]: tabs[to]?.name.toLowerCase() ?? '' })}`, { replace: true })
  }

  function move(event: KeyboardEvent): void {
    const to = target(event.key, chosen, tabs.length)
    if (to === undefined) return
    event.preventDefault()
    setChosen(to)
    document.getElementById(`${id}-tab-${to}`)?.focus()
  }

  return (
    <div class="stack">
      <div role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(({ name }, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-tab-${index}`}
            aria-controls={`${id}-panel`}
            aria-selected={index === chosen}
            tabIndex={index === chosen ? 0 : -1}
            onClick={() => setChosen(index)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-tab-${chosen}`}>
        {tabs[chosen]?.content}
      </div>
    </div>
  )
}

/** The tab that a key moves to, if any. The arrow keys wrap around. */
const target = (key: string, chosen: number, count: number): number | undefined =>
  ({ ArrowRight: (chosen + 1) % count, ArrowLeft: (chosen + count - 1) % count, Home: 0, End: count - 1 })[key]
