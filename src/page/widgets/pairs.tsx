/** Facts with their names, as a list. */
import type { ComponentChildren } from 'preact'

export type Fact = readonly [name: string, value: ComponentChildren]

interface PairsProps {
  /** Those without a value are left out. */
  readonly of: readonly Fact[]
  readonly short?: boolean
}

export function Pairs({ of, short = false }: PairsProps) {
  const known = of.filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '')
  if (known.length === 0) return null
  return (
    <dl class={short ? 'pairs pairs-short' : 'pairs'}>
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
