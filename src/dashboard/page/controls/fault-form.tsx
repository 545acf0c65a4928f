/** Any fault, for the next requests that fit, or for requests by chance. */
import { useId, useState } from 'preact/hooks'
import { useConfig } from '../config.jsx'
import { Field } from '../widgets/field.jsx'
import { Form } from '../widgets/form.jsx'
import { SelectField } from '../widgets/select-field.jsx'
import { faultFrom, faultKinds } from './fault-kinds.js'
import { anyRequest, type Target, TargetFields } from './target-fields.jsx'

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
        <SelectField
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
            <SelectField key={name + key} label={label} value={value} options={choices} onChange={change} />
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
