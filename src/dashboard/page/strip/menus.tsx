/** The popovers of the strip: mode, pace, clock and faults. */
import type { SituationJson } from '../../../http/situation.js'
import { control, Failure } from '../api.js'
import { configHasChanged } from '../config.jsx'
import { Button } from '../widgets/button.jsx'
import { Field, Form, useAction, useFields } from '../widgets/fields.jsx'
import { parsed } from '../widgets/json.js'
import { exactly, useTicks } from '../widgets/moment.jsx'
import { useResource } from '../widgets/resource.js'
import { FailureNote } from '../widgets/states.jsx'
import { duration } from '../wording.js'

const meanings = {
  emulate: 'Standin answers by itself.',
  proxy: 'The live platform answers.',
  record: 'The live platform answers, and the answers are recorded.',
  replay: 'Recordings answer.',
} as const

type Mode = SituationJson['mode']['mode']

export function ModeMenu({ mode: { mode, modes } }: { readonly mode: SituationJson['mode'] }) {
  const { value } = useResource(signal => control('GET /mode/choices', { signal }), [])
  const { failure, run } = useAction()
  const change = (to: Mode) => run(() => control('PUT /mode', { body: { mode: to, modes } }), `The mode is now ${to}.`)
  return (
    <>
      <ul class="choices stack">
        {(Object.keys(meanings) as Mode[]).map(one => {
          const reason = value?.data.find(choice => choice.mode === one)?.reason
          return (
            <li key={one}>
              <Button
                small
                aria-pressed={one === mode}
                aria-disabled={reason !== undefined}
                onClick={() => reason ?? (one === mode || change(one))}
              >
                {one}
              </Button>
              <p class="quiet small">{reason ?? meanings[one]}</p>
            </li>
          )
        })}
      </ul>
      {Object.entries(modes).map(([endpoint, own]) => (
        <p key={endpoint} class="quiet small">
          <code>{endpoint}</code>: {own}
        </p>
      ))}
      <FailureNote failure={failure} />
    </>
  )
}

type Pace = SituationJson['pace']

const presets: Readonly<Record<string, Pace>> = {
  instant: { firstTokenMs: 0, tokensPerSecond: 0, jitter: 0 },
  fast: { firstTokenMs: 200, tokensPerSecond: 120, jitter: 0.2 },
  'like live': { firstTokenMs: 600, tokensPerSecond: 40, jitter: 0.3 },
  slow: { firstTokenMs: 3000, tokensPerSecond: 5, jitter: 0.3 },
}

/** `fast`, or `200 ms, 50/s`. */
export function paceInWords(pace: Pace): string {
  const [name] = Object.entries(presets).find(([, one]) => JSON.stringify(one) === JSON.stringify(pace)) ?? []
  return name ?? numbersInWords(pace)
}

const numbersInWords = ({ firstTokenMs, tokensPerSecond }: Pace) =>
  `${duration(firstTokenMs)}, ${tokensPerSecond === 0 ? 'at once' : `${tokensPerSecond}/s`}`

export function PaceMenu({ pace }: { readonly pace: Pace }) {
  const { failure, run } = useAction()
  const { values, field } = useFields({
    firstTokenMs: String(pace.firstTokenMs),
    tokensPerSecond: String(pace.tokensPerSecond),
  })
  const change = (body: Partial<Pace>) => control('PUT /pace', { body })
  const typed = () =>
    change({ firstTokenMs: Number(values.firstTokenMs), tokensPerSecond: Number(values.tokensPerSecond) })
  return (
    <>
      <ul class="choices stack">
        {Object.entries(presets).map(([name, preset]) => (
          <li key={name}>
            <Button
              small
              aria-pressed={paceInWords(pace) === name}
              onClick={() => run(() => change(preset), `Streams are ${name} now.`)}
            >
              {name}
            </Button>
            <p class="quiet small">
              {preset.tokensPerSecond === 0 ? 'No pauses.' : `First token after ${numbersInWords(preset)}.`}
            </p>
          </li>
        ))}
      </ul>
      <FailureNote failure={failure} />
      <Form send="Set" small tone="plain" onSend={typed} said="The pace has changed.">
        <div class="fields">
          <Field label="First token, ms" {...field('firstTokenMs')} />
          <Field label="Tokens a second" {...field('tokensPerSecond')} />
        </div>
      </Form>
    </>
  )
}

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

type Faults = SituationJson['faults']
type Fault = Faults[number]['fault']

const faultPresets: Readonly<Record<string, Fault>> = {
  'Unavailable, 503': { status: 503 },
  'Too many requests, 429': { status: 429, retryAfter: 2 },
  'Cut off in the stream': { cut: 3 },
  'No answer': { hang: true },
}

const inWords = (fault: Fault) =>
  Object.entries(fault)
    .map(([name, value]) => (value === true ? name : `${name}=${value}`))
    .join('; ')

/** A fault as the header x-standin-fault has it: `status=429; retryAfter=2`, or `hang`. */
export function faultIn(line: string): Fault {
  const parts = line.split(';').map(part => part.trim())
  const entries = parts.filter(Boolean).map(part => {
    const [name = '', ...value] = part.split('=')
    const text = value.join('=').trim()
    return [name.trim(), text === '' ? true : (parsed(text) ?? text)] as const
  })
  if (entries.length === 0)
    throw new Failure(-1, 'Write a fault, such as status=429; retryAfter=2.', { field: 'fault' })
  return Object.fromEntries(entries) as Fault
}

export function FaultsMenu({ faults }: { readonly faults: Faults }) {
  const { failure, run } = useAction()
  const { values, field } = useFields({ fault: '', times: '1' })
  const add = (fault: Fault, times = 1) => control('POST /faults', { body: { fault, times } })
  const typed = () => add(faultIn(values.fault), Number(values.times))
  return (
    <>
      <p class="quiet small">For the next request:</p>
      <div class="row">
        {Object.entries(faultPresets).map(([name, fault]) => (
          <Button key={name} small onClick={() => run(() => add(fault), `${name}: for the next request.`)}>
            {name}
          </Button>
        ))}
      </div>
      <Form send="Add" small tone="plain" onSend={typed} said="The fault waits for a request.">
        <div class="fault-line">
          <Field
            label="Fault"
            placeholder="status=500; message=Oops"
            hint="As in the header x-standin-fault."
            {...field('fault')}
          />
          <Field label="Requests" {...field('times')} />
        </div>
      </Form>
      {faults.length > 0 && (
        <ul class="lined" aria-label="Faults that wait">
          {faults.map(({ id, fault, times = 1, path }) => (
            <li key={id} class="row">
              <code class="grow">{inWords(fault)}</code>
              <span class="quiet small">
                {times > 1 && `${times} requests`} {path}
              </span>
              <Button small about={inWords(fault)} onClick={() => run(() => control('DELETE /faults/{id}', { id }))}>
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      <FailureNote failure={failure} />
    </>
  )
}
