/** Which requests a fault is for. */
import { Field } from '../widgets/field.jsx'
import { SelectField } from '../widgets/select-field.jsx'

export interface Target {
  readonly isByChance: boolean
  readonly times: string
  /** In percent. */
  readonly chance: string
  /** Empty where any will do, as all that follow. */
  readonly method: string
  readonly path: string
  readonly model: string
  readonly user: string
}

export const anyRequest: Target = {
  ...{ isByChance: false, times: '1', chance: '5' },
  ...{ method: '', path: '', model: '', user: '' },
}

interface Props {
  readonly id: string
  readonly target: Target
  readonly models: readonly string[]
  readonly onChange: (target: Target) => void
}

const methods = [['', 'any'], ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map(name => [name, name] as const)] as const

export function TargetFields({ id, target, models, onChange }: Props) {
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
            <SelectField label="Method" value={method} options={methods} onChange={set('method')} />
            <SelectField
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
