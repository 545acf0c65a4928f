/** Dialogs that create a key, roll it, and show a new secret once. */
import { useState } from 'preact/hooks'
import type { ApiKeyView, NewApiKey } from '../../../keys/operations.js'
import { useNow } from '../config.jsx'
import { userApi } from '../session/session.js'
import { Button } from '../widgets/button.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Confirm, Dialog } from '../widgets/dialog.jsx'
import { Field, RadioGroup, Select } from '../widgets/fields.jsx'
import { useFields } from '../widgets/form.jsx'
import { exactly } from '../widgets/moment.jsx'
import { Notice } from '../widgets/states.jsx'

const HOUR_S = 3600
const DAY_S = 24 * HOUR_S

/** Lifetimes of a new key, in seconds. */
const durations = new Map([
  [String(HOUR_S), '1 hour'],
  [String(7 * DAY_S), '7 days'],
  [String(30 * DAY_S), '30 days'],
  [String(90 * DAY_S), '90 days'],
])

const lifetimes = [
  ['never', 'Never'],
  ...[...durations].map(([seconds, words]) => [seconds, `In ${words}`] as const),
  ['date', 'On a date…'],
] as const

interface MakeProps {
  readonly onMade: (key: NewApiKey) => void
}

export function CreateDialog({ onMade }: MakeProps) {
  // The day has the form `YYYY-MM-DD`.
  const { values, field } = useFields({ name: '', lifetime: 'never', day: '' })
  const { name, lifetime, day } = values
  const expiry = expiryOf(lifetime, day)
  const now = useNow()
  return (
    <Confirm
      title="Create an API key"
      send="Create key"
      onSend={() => userApi('POST /keys', { body: { name, ...expiry } })}
      onDone={onMade}
    >
      <Field
        label="Name"
        {...field('name')}
        maxLength={100}
        hint="Where it is used, for example “my laptop” or “CI”."
      />
      <Select label="Expires" {...field('lifetime')} options={lifetimes} hint={hintFor(lifetime, expiry.expires_at)} />
      {lifetime === 'date' && <Field label="Last day" type="date" min={dayOf(now)} {...field('day')} />}
    </Confirm>
  )
}

interface Expiry {
  readonly expires_at?: string
  readonly expires_in?: number
}

/** Lifetimes are sent as such, since Standin's clock may be adjusted. A day ends in the browser's time zone. */
function expiryOf(lifetime: string, day: string): Expiry {
  if (lifetime === 'never') return {}
  if (lifetime !== 'date') return { expires_in: Number(lifetime) }
  const end = new Date(`${day}T23:59:59`)
  // No day is chosen yet.
  return Number.isNaN(end.getTime()) ? {} : { expires_at: end.toISOString() }
}

function hintFor(lifetime: string, end: string | undefined): string {
  if (lifetime === 'never') return 'It works until you revoke it.'
  if (lifetime === 'date') return end ? `It works until ${exactly(end)}.` : 'It works until the end of that day.'
  return `It works for ${durations.get(lifetime)}, by Standin’s clock.`
}

/** The day as `YYYY-MM-DD`, in the browser's time zone. */
const dayOf = (ms: number) => new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 10)

const overlaps = [
  { label: 'Stops now', value: 0 },
  { label: 'Works for 1 more hour', value: HOUR_S },
  { label: 'Works for 24 more hours', value: DAY_S },
  { label: 'Works for 7 more days', value: 7 * DAY_S },
]

export function RollDialog({ old, onMade }: MakeProps & { readonly old: ApiKeyView }) {
  const [overlap, setOverlap] = useState(0)
  return (
    <Confirm
      title={`Roll “${old.name}”`}
      send="Roll key"
      onSend={() => userApi('POST /keys/{id}/roll', { id: old.id, body: { overlap_seconds: overlap } })}
      onDone={onMade}
    >
      <p>You get a new key with the same name and lifetime.</p>
      {old.state === 'active' && (
        <RadioGroup label={`The old key ${old.start}…`} value={overlap} options={overlaps} onChange={setOverlap} />
      )}
    </Confirm>
  )
}

interface SecretProps {
  readonly title: string
  readonly secret: string
  /** The noun for it, such as `key`. */
  readonly what: string
  readonly note: string
}

/** Shows a secret that cannot be shown again. */
export function SecretDialog({ title, secret, what, note }: SecretProps) {
  return (
    <Dialog title={title}>
      {close => (
        <>
          <div class="secret dashed stack">
            <code>{secret}</code>
            <CopyButton text={secret} what={`the ${what}`} main />
          </div>
          <Notice tone="care">
            <p>{note}</p>
          </Notice>
          <div class="form-buttons row">
            <Button onClick={close}>Done</Button>
          </div>
        </>
      )}
    </Dialog>
  )
}
