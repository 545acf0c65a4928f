/** Chooses when a key expires. */
import { useId } from 'preact/hooks'
import { Field } from '../widgets/field.jsx'
import { exactly } from '../widgets/moment.jsx'
import { choices, dayOf, type Expiry, momentOf } from './expiry.js'

interface Props {
  readonly value: Expiry
  readonly onChange: (value: Expiry) => void
}

export function ExpiryField({ value, onChange }: Props) {
  const id = useId()
  const today = dayOf(new Date())
  const isWhole = value.choice !== 'date' || value.day !== ''
  const at = isWhole ? momentOf(value, Date.now()) : null
  return (
    <>
      <div class="field">
        <label for={id}>Expires</label>
        <select
          id={id}
          value={value.choice}
          aria-describedby={`${id}-hint`}
          onChange={({ currentTarget }) => onChange({ ...value, choice: currentTarget.value as Expiry['choice'] })}
        >
          {choices.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
        <p class="hint" id={`${id}-hint`}>
          {at
            ? `It works until ${exactly(at)}.`
            : isWhole
              ? 'It works until you revoke it.'
              : 'It works to the end of that day.'}
        </p>
      </div>
      {value.choice === 'date' && (
        <Field
          label="Last day"
          type="date"
          min={today}
          value={value.day}
          onChange={day => onChange({ ...value, day })}
        />
      )}
    </>
  )
}
