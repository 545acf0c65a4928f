/** Creates a key with a name and an expiry. */
import { useState } from 'preact/hooks'
import type { NewApiKey } from '../../keys/operations.js'
import type { DashboardApi } from '../api.js'
import { Confirm } from '../widgets/dialog.jsx'
import { Field, Select } from '../widgets/fields.jsx'
import { exactly } from '../widgets/moment.jsx'

interface Props {
  readonly api: DashboardApi
  readonly onMade: (key: NewApiKey) => void
  readonly onClosed: () => void
}

export function CreateDialog({ api, onMade, onClosed }: Props) {
  const [name, setName] = useState('')
  const [expiry, setExpiry] = useState<Expiry>({ choice: 'never', day: '' })
  return (
    <Confirm
      title="Create an API key"
      send="Create key"
      isEdited={name !== ''}
      onSend={() => api('POST /keys', { body: { name, expires_at: momentOf(expiry, Date.now()) } })}
      onDone={onMade}
      onClosed={onClosed}
    >
      <Field
        label="Name"
        value={name}
        onChange={setName}
        maxLength={100}
        hint="Where it is used, for example “my laptop” or “CI”."
      />
      <ExpiryField value={expiry} onChange={setExpiry} />
    </Confirm>
  )
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Choices with a fixed duration, and two without. */
const choices = [
  { id: 'never', name: 'Never' },
  { id: 'hour', name: 'In 1 hour', ms: HOUR_MS },
  { id: 'week', name: 'In 7 days', ms: 7 * DAY_MS },
  { id: 'month', name: 'In 30 days', ms: 30 * DAY_MS },
  { id: 'quarter', name: 'In 90 days', ms: 90 * DAY_MS },
  { id: 'date', name: 'On a date…' },
] as const

/** How long a key is valid, as chosen in the form. */
interface Expiry {
  readonly choice: (typeof choices)[number]['id']
  /** The chosen day as `YYYY-MM-DD`, for the choice `date`. */
  readonly day: string
}

/** When a key expires; null for never. A chosen day counts until its end, in the browser's time zone. */
function momentOf({ choice, day }: Expiry, nowMs: number): string | null {
  if (choice === 'date') return new Date(`${day}T23:59:59`).toISOString()
  const chosen = choices.find(({ id }) => id === choice)
  return chosen && 'ms' in chosen ? new Date(nowMs + chosen.ms).toISOString() : null
}

/** A day as `YYYY-MM-DD`, in the browser's time zone. */
function dayOf(date: Date): string {
  const two = (part: number) => String(part).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

interface ExpiryFieldProps {
  readonly value: Expiry
  readonly onChange: (value: Expiry) => void
}

/** Chooses when a key expires. */
function ExpiryField({ value, onChange }: ExpiryFieldProps) {
  const isWhole = value.choice !== 'date' || value.day !== ''
  const at = isWhole ? momentOf(value, Date.now()) : null
  return (
    <>
      <Select
        label="Expires"
        value={value.choice}
        options={choices.map(({ id, name }) => [id, name])}
        onChange={choice => onChange({ ...value, choice })}
        hint={
          at
            ? `It works until ${exactly(at)}.`
            : isWhole
              ? 'It works until you revoke it.'
              : 'It works to the end of that day.'
        }
      />
      {value.choice === 'date' && (
        <Field
          label="Last day"
          type="date"
          min={dayOf(new Date())}
          value={value.day}
          onChange={day => onChange({ ...value, day })}
        />
      )}
    </>
  )
}
