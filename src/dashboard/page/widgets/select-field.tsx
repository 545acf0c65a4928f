/** A choice of one, with its label and a hint. */
import { useId } from 'preact/hooks'

interface Props {
  readonly label: string
  readonly id?: string
  readonly value: string
  /** Values with their words. */
  readonly options: readonly (readonly [value: string, words: string])[]
  readonly onChange: (value: string) => void
  readonly hint?: string | undefined
}

export function SelectField({ label, value, options, onChange, hint, ...more }: Props) {
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
