/** A line to fill in, with its label and a hint. */
import { useId } from 'preact/hooks'

interface Props {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly type?: 'text' | 'email' | 'password' | 'date' | 'number'
  readonly autocomplete?: string
  readonly hint?: string
  readonly maxLength?: number
  readonly min?: string
  readonly required?: boolean
  readonly placeholder?: string
  readonly step?: string
}

export function Field({ label, value, onChange, hint, type = 'text', required = true, ...more }: Props) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...more}
        // Preact tells the kinds of input apart by their type, and wants to know which one this is.
        type={type as 'text'}
        id={id}
        value={value}
        required={required}
        spellcheck={false}
        autocapitalize="off"
        aria-describedby={hint ? `${id}-hint` : undefined}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}
