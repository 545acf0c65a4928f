/** Facts with their names, as a list. */
import type { ComponentChildren } from 'preact'

export type Fact = readonly [name: string, value: ComponentChildren]

interface PairsProps {
  /** Those without a value are left out. */
  readonly of: readonly Fact[]
  /** How the list looks, if not as lines of a table. */
  readonly class?: string
}

export function Pairs({ of, class: look = 'pairs' }: PairsProps) {
  const known = of.filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '')
  if (known.length === 0) return null
  return (
    <dl class={look}>
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
