/** A part of the request that is written as JSON, folded away while it is not used. */
import { TextArea } from '../widgets/text-area.jsx'

interface Props {
  readonly id: string
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly hint: string
  readonly mistake: string | undefined
  readonly sample: string
  /** What is told of it while it is folded. */
  readonly summary: string
}

export function JsonField({ sample, summary, ...field }: Props) {
  const { label, value, onChange } = field
  return (
    <details class="fold">
      <summary>
        {label} <span class="fold-note">{summary}</span>
      </summary>
      <div class="fold-content">
        <TextArea {...field} label={`${label} (JSON)`} rows={8} code />
        <div class="fold-buttons">
          {value === '' ? (
            <button type="button" class="button button-small" onClick={() => onChange(sample)}>
              Fill in a sample<span class="unseen"> of {label}</span>
            </button>
          ) : (
            <button type="button" class="button button-small" onClick={() => onChange('')}>
              Remove<span class="unseen"> {label}</span>
            </button>
          )}
        </div>
      </div>
    </details>
  )
}
