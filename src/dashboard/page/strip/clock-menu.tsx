/** The clock by which tokens, keys, codes, sessions and limits expire. */
import type { SituationJson } from '../../../http/situation.js'
import { control } from '../api.js'
import { configHasChanged } from '../config.jsx'
import { Button } from '../widgets/button.jsx'
import { Field } from '../widgets/fields.jsx'
import { Form, useAction, useFields } from '../widgets/form.jsx'
import { exactly, useTicks } from '../widgets/moment.jsx'
import { useResource } from '../widgets/resource.js'
import { FailureNote } from '../widgets/states.jsx'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** `real time`, `+1 day`, `stopped`. */
export function clockInWords({ offsetMs, frozenAt }: SituationJson['clock']): string {
  if (frozenAt !== null) return 'stopped'
  const size = Math.abs(offsetMs)
  if (size < 1000) return 'real time'
  const [unit, ms] = size >= DAY_MS ? ['day', DAY_MS] : size >= HOUR_MS ? ['hour', HOUR_MS] : ['min', 60_000]
  const many = Math.round((size / ms) * 10) / 10
  return `${offsetMs < 0 ? '−' : '+'}${many} ${unit}${many === 1 || unit === 'min' ? '' : 's'}`
}

const steps = [
  ['+1 hour', HOUR_MS],
  ['+1 day', DAY_MS],
  ['+30 days', 30 * DAY_MS],
] as const

export function ClockMenu() {
  const { value, reload } = useResource(signal => control('GET /clock', { signal }), [], 1000)
  const { failure, run } = useAction()
  const { values, field } = useFields({ now: '' })
  useTicks(1000)
  const change = async (body: object) => {
    await control('PUT /clock', { body })
    reload()
    configHasChanged()
  }
  const set = (body: object) => void run(() => change(body), 'The clock has changed.')
  return (
    <>
      {value && <time dateTime={value.now}>{exactly(value.now)}</time>}
      <div class="row">
        {steps.map(([name, advanceMs]) => (
          <Button key={name} small onClick={() => set({ advanceMs })}>
            {name}
          </Button>
        ))}
      </div>
      <div class="row">
        <Button small onClick={() => set({ frozen: !value?.frozen })}>
          {value?.frozen ? 'Let it run' : 'Stop it'}
        </Button>
        <Button small onClick={() => set({ reset: true })}>
          Real time
        </Button>
      </div>
      <FailureNote failure={failure} />
      <Form
        send="Set"
        small
        tone="plain"
        onSend={() => change({ now: values.now.trim() })}
        said="The clock has changed."
      >
        <Field label="Set to" placeholder="2030-01-31T12:00:00Z" {...field('now')} />
      </Form>
    </>
  )
}
