/** A state in one word and one colour. */

export type Tone = 'good' | 'care' | 'danger' | 'plain'

interface Props {
  readonly tone: Tone
  readonly children: string
}

export function Badge({ tone, children }: Props) {
  return <span class={`badge badge-${tone}`}>{children}</span>
}
