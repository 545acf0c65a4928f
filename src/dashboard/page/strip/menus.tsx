/** What the strip can change: mode, faults, pace and clock, and the reset of everything. */
import type { SituationJson } from '../../../situation/operations.js'
import { control, Failure } from '../api.js'
import { configHasChanged } from '../config.jsx'
import { useAction } from '../widgets/action.js'
import { Button } from '../widgets/button.jsx'
import { AskButton, Field, Form, useFields } from '../widgets/fields.jsx'
import { parsed } from '../widgets/json.js'
import { exactly } from '../widgets/moment.jsx'
import { useResource } from '../widgets/resource.js'
import { FailureNote } from '../widgets/states.jsx'
import { duration } from '../wording.js'

const meanings = {
  emulate: 'Standin answers by itself.',
  proxy: 'The live platform answers.',
  record: 'The live platform answers, and the answers are recorded.',
  replay: 'Recordings answer.',
} as const

type Mode = keyof typeof meanings

/** Menus load what they show again when anything has changed. */
interface MenuProps {
  readonly situation: SituationJson
}

const useSettings = (situation: SituationJson) =>
  useResource(signal => control('GET /settings', { signal }), [situation])

const change = (body: NonNullable<Parameters<typeof control<'PUT /settings'>>[1]>['body']) =>
  control('PUT /settings', { body })

export function ModeMenu({ situation }: MenuProps) {
  const { value } = useResource(signal => control('GET /mode', { signal }), [situation])
  const { mode, modes = {}, choices = [] } = value ?? {}
  const { failure, run } = useAction()
  const change = (to: Mode) => run(() => control('PUT /mode', { body: { mode: to, modes } }), `The mode is now ${to}.`)
  return (
    <>
      <ul class="choices stack">
        {(Object.keys(meanings) as Mode[]).map(one => {
          const reason = choices.find(choice => choice.mode === one)?.reason
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

interface Pace {
  readonly firstTokenMs: number
  readonly tokensPerSecond: number
  readonly jitter: number
}

const presets: Readonly<Record<string, Pace>> = {
  instant: { firstTokenMs: 0, tokensPerSecond: 0, jitter: 0 },
  fast: { firstTokenMs: 200, tokensPerSecond: 120, jitter: 0.2 },
  'like live': { firstTokenMs: 600, tokensPerSecond: 40, jitter: 0.3 },
  slow: { firstTokenMs: 3000, tokensPerSecond: 5, jitter: 0.3 },
}

const isPreset = (preset: Pace, pace: Pace | undefined) =>
  (['firstTokenMs', 'tokensPerSecond', 'jitter'] as const).every(name => preset[name] === pace?.[name])

const paceInWords = ({ firstTokenMs, tokensPerSecond }: Pace) =>
  tokensPerSecond === 0 ? 'No pauses.' : `First token after ${duration(firstTokenMs)}, ${tokensPerSecond}/s.`

export function PaceMenu({ situation }: MenuProps) {
  const pace = useSettings(situation).value?.pace.inForce
  const { failure, run } = useAction()
  const { values, field } = useFields({ firstTokenMs: '200', tokensPerSecond: '50' })
  const typed = () =>
    change({
      pace: { firstTokenMs: Number(values.firstTokenMs), tokensPerSecond: Number(values.tokensPerSecond) },
    })
  return (
    <>
      <ul class="choices stack">
        {Object.entries(presets).map(([name, preset]) => (
          <li key={name}>
            <Button
              small
              aria-pressed={isPreset(preset, pace)}
              onClick={() => run(() => change({ pace: preset }), `Streams are ${name} now.`)}
            >
              {name}
            </Button>
            <p class="quiet small">{paceInWords(preset)}</p>
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

const steps = [
  ['+1 hour', HOUR_MS],
  ['+1 day', DAY_MS],
  ['+30 days', 30 * DAY_MS],
] as const

export function ClockMenu({ situation }: MenuProps) {
  const settings = useSettings(situation)
  const value = settings.value?.clock
  const { failure, run } = useAction()
  const { values, field } = useFields({ now: '' })
  const changeClock = async (clock: object) => {
    await change({ clock })
    settings.reload()
    configHasChanged()
  }
  const set = (clock: object) => void run(() => changeClock(clock), 'The clock has changed.')
  const typed = () => changeClock({ now: values.now.trim() })
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
      <Form send="Set" small tone="plain" onSend={typed} said="The clock has changed.">
        <Field label="Set to" placeholder="2030-01-31T12:00:00Z" {...field('now')} />
      </Form>
    </>
  )
}

type Fault = Parameters<typeof control<'POST /faults'>>[1] extends { body: { fault: infer F } } ? F : never

const faultPresets: Readonly<Record<string, Fault>> = {
  'Unavailable, 503': { status: 503 },
  'Too many requests, 429': { status: 429, retryAfter: 2 },
  'Cut off in the stream': { cut: 3 },
  'No answer': { hang: true },
}

/** A fault as the header x-standin-fault has it: `status=429; retryAfter=2`, or `hang`. */
function faultIn(line: string): Fault {
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

export function FaultsMenu() {
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
      <FailureNote failure={failure} />
    </>
  )
}

/** Takes everything back at once. What cannot be restored asks first. */
export function ResetMenu() {
  const { failure, run } = useAction()
  const reset = (state: boolean) => control('POST /reset', { body: { state } })
  return (
    <>
      <p class="quiet">Takes all of this back, and removes temporary rules, repairs and the list of requests.</p>
      <div class="row">
        <Button small onClick={() => run(() => reset(false), 'Standin was reset.')}>
          Reset, keep users and keys
        </Button>
        <AskButton
          small
          label="Reset everything"
          title="Reset everything?"
          send="Reset everything"
          onSend={() => reset(true)}
          said="Standin was reset."
        >
          <p>Users, sessions, keys and messages that were made since the start are gone, too.</p>
        </AskButton>
      </div>
      <FailureNote failure={failure} />
    </>
  )
}
