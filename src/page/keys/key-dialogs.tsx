/** Dialogs for keys: create one, roll it, revoke it, and show a new secret once. */
import { useState } from 'preact/hooks'
import type { ApiKeyView, NewApiKey } from '../../keys/operations.js'
import type { DashboardApi } from '../api.js'
import { forgetKey } from '../connect/fresh-key.jsx'
import { Button } from '../widgets/button.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { ask, Confirm, Dialog } from '../widgets/dialog.jsx'
import { Field, RadioGroup, Select } from '../widgets/fields.jsx'
import { useFields } from '../widgets/form.jsx'
import { exactly } from '../widgets/moment.jsx'
import { Notice } from '../widgets/states.jsx'

const HOUR_S = 3600
const DAY_S = 24 * HOUR_S

/** How long a new key is valid. */
const lifetimes = [
  ['never', 'Never'],
  [String(HOUR_S), 'In 1 hour'],
  [String(7 * DAY_S), 'In 7 days'],
  [String(30 * DAY_S), 'In 30 days'],
  [String(90 * DAY_S), 'In 90 days'],
  ['date', 'On a date…'],
] as const

interface MakeProps {
  readonly api: DashboardApi
  readonly onMade: (key: NewApiKey) => void
}

export function CreateDialog({ api, onMade }: MakeProps) {
  // The day is written as `YYYY-MM-DD`.
  const { values, field } = useFields({ name: '', lifetime: 'never', day: '' })
  const { name, lifetime, day } = values
  const endMs = lifetime === 'date' ? endOf(day) : Date.now() + Number(lifetime) * 1000
  const expires_at = Number.isNaN(endMs) ? null : new Date(endMs).toISOString()
  const untilRevoked = lifetime === 'date' ? 'It works to the end of that day.' : 'It works until you revoke it.'
  return (
    <Confirm
      title="Create an API key"
      send="Create key"
      isEdited={name !== ''}
      onSend={() => api('POST /keys', { body: { name, expires_at } })}
      onDone={onMade}
    >
      <Field
        label="Name"
        {...field('name')}
        maxLength={100}
        hint="Where it is used, for example “my laptop” or “CI”."
      />
      <Select
        label="Expires"
        {...field('lifetime')}
        options={lifetimes}
        hint={expires_at ? `It works until ${exactly(expires_at)}.` : untilRevoked}
      />
      {lifetime === 'date' && <Field label="Last day" type="date" min={today()} {...field('day')} />}
    </Confirm>
  )
}

/** The end of a day, in the browser's time zone. NaN while no day is chosen. */
const endOf = (day: string) => new Date(`${day}T23:59:59`).getTime()

/** Today as `YYYY-MM-DD`, in the browser's time zone. */
const today = () => new Date(Date.now() - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 10)

const overlaps = [
  { label: 'Stops now', value: 0 },
  { label: 'Works for 1 more hour', value: HOUR_S },
  { label: 'Works for 24 more hours', value: DAY_S },
  { label: 'Works for 7 more days', value: 7 * DAY_S },
]

interface RollProps extends MakeProps {
  readonly old: ApiKeyView
}

export function RollDialog({ old, api, onMade }: RollProps) {
  const [overlap, setOverlap] = useState(0)
  return (
    <Confirm
      title={`Roll “${old.name}”`}
      send="Roll key"
      onSend={() => api('POST /keys/{id}/roll', { id: old.id, body: { overlap_seconds: overlap } })}
      onDone={onMade}
    >
      <p>You get a new key with the same name and lifetime.</p>
      {old.state === 'active' && (
        <RadioGroup label={`The old key ${old.start}…`} value={overlap} options={overlaps} onChange={setOverlap} />
      )}
    </Confirm>
  )
}

/** Asks for confirmation, then revokes a key. */
export const askToRevoke = ({ id, name, start }: ApiKeyView, revoke: () => Promise<unknown>, done: () => void) =>
  ask({
    title: `Revoke “${name}”?`,
    send: 'Revoke key',
    words: (
      <p>
        Requests with <code>{start}…</code> get a 401 from now on. This cannot be undone.
      </p>
    ),
    act: revoke,
    done() {
      forgetKey(id)
      done()
    },
    said: `The key ${name} is revoked.`,
  })

interface SecretProps {
  readonly title: string
  readonly secret: string
  /** What it is: `key`. */
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
