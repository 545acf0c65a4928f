/** Facts with their names, as a list. */
import type { ComponentChildren } from 'preact'

export type Fact = readonly [name: string, value: ComponentChildren]

interface PairsProps {
  /** Those without a value are left out. */
  readonly of: readonly Fact[]
  readonly short?: boolean
  readonly class?: string
}

export function Pairs({ of, short = false, class: look = '' }: PairsProps) {
  const known = of.filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '')
  if (known.length === 0) return null
  return (
    <dl class={`pairs ${short ? 'pairs-short' : look}`}>
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
