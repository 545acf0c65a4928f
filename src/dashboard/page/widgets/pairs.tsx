/** Named facts, as a description list. */
import type { ComponentChildren } from 'preact'

export type Fact = readonly [name: string, value: ComponentChildren]

interface PairsProps {
  /** Facts without a value are left out. */
  readonly of: readonly Fact[]
  /** The list's class, if it does not look like the rows of a table. */
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
