/** Form fields with a label and a hint: text, choice, and several lines of text. */
import { useId } from 'preact/hooks'

interface Props {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly id?: string
  readonly rows?: number
  readonly hint?: string | undefined
  readonly mistake?: string | undefined
  /** Whether the content is code. */
  readonly code?: boolean
  readonly placeholder?: string
  /** Whether the label is visible to screen readers only. */
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

interface FieldProps {
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

/** A text field with a label and a hint. */
export function Field({ label, value, onChange, hint, type = 'text', required = true, ...more }: FieldProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...more}
        // Preact types inputs by their `type`, and needs to know which one this is.
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

interface SelectFieldProps {
  readonly label: string
  readonly id?: string
  readonly value: string
  /** Values with their labels. */
  readonly options: readonly (readonly [value: string, words: string])[]
  readonly onChange: (value: string) => void
  readonly hint?: string | undefined
}

/** A choice of one value, with a label and a hint. */
export function SelectField({ label, value, options, onChange, hint, ...more }: SelectFieldProps) {
  const ownId = useId()
  const id = more.id ?? ownId
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      >
        {options.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}
