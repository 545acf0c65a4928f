/** Badges: a state in one word and one colour. */

export type Tone = 'good' | 'care' | 'danger' | 'plain'

interface Props {
  readonly tone: Tone
  readonly children: string
}

export function Badge({ tone, children }: Props) {
  return <span class={`badge tone-${tone}`}>{children}</span>
}

export type TonedWord = readonly [tone: Tone, word: string]

/** The states of a thing, a badge for each. */
export const Badges = ({ of: states }: { readonly of: readonly TonedWord[] }) => (
  <span class="badges">
    {states.map(([tone, word]) => (
      <Badge key={word} tone={tone}>
        {word}
      </Badge>
    ))}
  </span>
)

interface StatusBadgeProps {
  readonly status: number | null
  readonly none?: string
}

/** The status of an answer, coloured by success or failure. */
export function StatusBadge({ status, none = 'none' }: StatusBadgeProps) {
  return <Badge tone={toneOf(status)}>{status === null ? none : String(status)}</Badge>
}

function toneOf(status: number | null): Tone {
  if (status === null || status >= 500) return 'danger'
  if (status >= 400) return 'care'
  return status >= 300 ? 'plain' : 'good'
}
