/** Badges: a state in one word and one colour. */

export type Tone = 'good' | 'care' | 'danger' | 'plain'

export function Badge({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return <span class={`badge tone-${tone}`}>{children}</span>
}

export type TonedWord = readonly [tone: Tone, word: string]

export const Badges = ({ of: states }: { readonly of: readonly TonedWord[] }) => (
  <span class="badges">
    {states.map(([tone, word]) => (
      <Badge key={word} tone={tone}>
        {word}
      </Badge>
    ))}
  </span>
)

export function StatusBadge({ status, none = 'none' }: { readonly status: number | null; readonly none?: string }) {
  return <Badge tone={toneOf(status)}>{status === null ? none : String(status)}</Badge>
}

function toneOf(status: number | null): Tone {
  if (status === null || status >= 500) return 'danger'
  if (status >= 400) return 'care'
  return status >= 300 ? 'plain' : 'good'
}
