/** A form for any fault, for the next matching requests or for random ones. */
import { useId, useState } from 'preact/hooks'
import { useConfig } from '../config.jsx'
import { Field, Select } from '../widgets/fields.jsx'
import { Form } from '../widgets/form.jsx'
import { faultFrom, faultKinds } from './fault-kinds.js'

interface Props {
  readonly onNext: (call: object) => Promise<void>
  readonly onChance: (fault: object) => Promise<void>
}

const kindOptions = faultKinds.map(({ name }) => [name, name] as const)

export function FaultForm({ onNext, onChance }: Props) {
  const [name, setName] = useState(faultKinds[0]?.name ?? '')
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [target, setTarget] = useState<Target>(anyRequest)
  const { models } = useConfig()
  const id = useId()
  const kind = faultKinds.find(kind => kind.name === name)
  if (!kind) return null

  async function send(): Promise<void> {
    if (!kind) return
    const fault = faultFrom(kind, values)
    const { isByChance, times, chance, method, path, model, user } = target
    const paths = path.trim() === '' ? {} : { path: path.trim() }
    if (isByChance) return onChance({ ...fault, chance: Number(chance) / 100, ...paths })
    const when = { ...(model !== '' && { model }), ...(user !== '' && { user: { contains: user } }) }
    await onNext({
      fault,
      times: Number(times),
      ...paths,
      ...(method !== '' && { method }),
      ...(Object.keys(when).length > 0 && { when }),
    })
  }

  return (
    <Form send="Add the fault" onSend={send}>
      <div class="form-columns">
        <Select
          label="What goes wrong"
          value={name}
          options={kindOptions}
          hint={kind.does}
          onChange={chosen => {
            setName(chosen)
            setValues({})
          }}
        />
        {kind.fields.map(({ key, label, initial, type, choices, isOptional = false }) => {
          const value = values[key] ?? initial
          const change = (value: string) => setValues(before => ({ ...before, [key]: value }))
          return choices ? (
            <Select key={name + key} label={label} value={value} options={choices} onChange={change} />
          ) : (
            <Field
              key={name + key}
              label={label}
              value={value}
              type={type ?? 'text'}
              required={!isOptional}
              autocomplete="off"
              {...(isOptional && { placeholder: 'none' })}
              onChange={change}
            />
          )
        })}
      </div>
      <TargetFields id={id} target={target} models={models} onChange={setTarget} />
    </Form>
  )
}

interface Target {
  readonly isByChance: boolean
  readonly times: string
  /** In percent. */
  readonly chance: string
  /** Empty for any method. The same holds for the fields below. */
  readonly method: string
  readonly path: string
  readonly model: string
  readonly user: string
}

/** Which requests a fault applies to. */
const anyRequest: Target = {
  ...{ isByChance: false, times: '1', chance: '5' },
  ...{ method: '', path: '', model: '', user: '' },
}

interface TargetFieldsProps {
  readonly id: string
  readonly target: Target
  readonly models: readonly string[]
  readonly onChange: (target: Target) => void
}

const methods = [['', 'any'], ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map(name => [name, name] as const)] as const

function TargetFields({ id, target, models, onChange }: TargetFieldsProps) {
  const { isByChance, times, chance, method, path, model, user } = target
  const set = (key: keyof Target) => (value: string) => onChange({ ...target, [key]: value })
  const kind = (byChance: boolean, words: string) => (
    <label class="choice">
      <input
        type="radio"
        name={id}
        checked={isByChance === byChance}
        onChange={() => onChange({ ...target, isByChance: byChance })}
      />
      {words}
    </label>
  )
  return (
    <>
      <fieldset>
        <legend>Which requests</legend>
        {kind(false, 'The next ones that fit')}
        {kind(true, 'Any that fit, by chance')}
      </fieldset>
      <div class="form-columns">
        {isByChance ? (
          <Field
            label="How likely (%)"
            type="number"
            step="any"
            value={chance}
            autocomplete="off"
            onChange={set('chance')}
          />
        ) : (
          <Field label="How many" type="number" value={times} autocomplete="off" onChange={set('times')} />
        )}
        <Field
          label="Path"
          value={path}
          required={false}
          autocomplete="off"
          placeholder="any"
          hint="* stands for anything, as in /v1/*."
          onChange={set('path')}
        />
        {!isByChance && (
          <>
            <Select label="Method" value={method} options={methods} onChange={set('method')} />
            <Select
              label="Model"
              value={model}
              options={[['', 'any'], ...models.map(id => [id, id] as const)]}
              onChange={set('model')}
            />
            <Field
              label="The user says"
              value={user}
              required={false}
              autocomplete="off"
              placeholder="anything"
              hint="A part of the last user message."
              onChange={set('user')}
            />
          </>
        )}
      </div>
    </>
  )
}
