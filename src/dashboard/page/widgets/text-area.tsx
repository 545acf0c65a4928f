/** A place for more than one line, with its label, a hint, and what is wrong with what stands there. */
import { useId } from 'preact/hooks'

interface Props {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly id?: string
  readonly rows?: number
  readonly hint?: string | undefined
  readonly mistake?: string | undefined
  /** Whether it is code. */
  readonly code?: boolean
  readonly placeholder?: string
  /** Whether the label is only for those who hear the page. */
  readonly bare?: boolean
  readonly onKeyDown?: (event: KeyboardEvent) => void
}

export function TextArea({ label, value, onChange, hint, mistake, bare, code, rows = 3, ...more }: Props) {
  const ownId = useId()
  const id = more.id ?? ownId
  const about = [...(mistake ? [`${id}-mistake`] : []), ...(hint ? [`${id}-hint`] : [])].join(' ')
  return (
    <div class="field">
      <label for={id} class={bare ? 'unseen' : undefined}>
        {label}
      </label>
      <textarea
        {...more}
        id={id}
        rows={rows}
        class={code ? 'text-area text-area-code' : 'text-area'}
        value={value}
        spellcheck={!code}
        aria-invalid={mistake !== undefined}
        aria-describedby={about || undefined}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {mistake && (
        <p class="mistake" id={`${id}-mistake`}>
          {mistake}
        </p>
      )}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}
