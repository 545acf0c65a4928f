/** A number that may be left out. */

interface Props {
  readonly id: string
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly mistake: string | undefined
}

export function NumberField({ id, label, value, onChange, mistake }: Props) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        // Not a number: those lose what is no number, and change when the page is scrolled over them.
        type="text"
        inputMode="decimal"
        value={value}
        placeholder="not sent"
        autocomplete="off"
        aria-invalid={mistake !== undefined}
        aria-describedby={mistake ? `${id}-mistake` : undefined}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {mistake && (
        <p class="mistake" id={`${id}-mistake`}>
          {mistake}
        </p>
      )}
    </div>
  )
}
