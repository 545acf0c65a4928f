/** The status of an answer, in the tone of how it went. */
import { Badge, type Tone } from './badge.jsx'

interface Props {
  /** Nothing where no answer came. */
  readonly status: number | null
  /** What is said where none came. */
  readonly none?: string
}

export function StatusBadge({ status, none = 'none' }: Props) {
  return <Badge tone={toneOf(status)}>{status === null ? none : String(status)}</Badge>
}

function toneOf(status: number | null): Tone {
  if (status === null || status >= 500) return 'danger'
  if (status >= 400) return 'care'
  return status >= 300 ? 'plain' : 'good'
}
