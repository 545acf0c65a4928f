/** Everything that a request says beside the conversation. */
import { useState } from 'preact/hooks'
import { SelectField } from '../widgets/select-field.jsx'
import { type Conversation, setUp } from './conversation.js'
import type { Credential } from './credential.js'
import { CredentialField } from './credential-field.jsx'
import { placeOf } from './go-to.js'
import { JsonField } from './json-field.jsx'
import type { Models } from './models.js'
import { NumberField } from './number-field.jsx'
import { sampleSchema, sampleTools } from './samples.js'
import { mistakeIn, type SettingName, toolChoices, toolNames } from './settings.js'

interface Props {
  readonly conversation: Conversation
  readonly credential: Credential
  readonly models: Models
  readonly model: string
  readonly onCredentialSettled: () => void
}

const numbers = [
  ['temperature', 'Temperature'],
  ['maxTokens', 'Max tokens'],
  ['seed', 'Seed'],
] as const

export function SettingsPanel({ conversation, credential, models, model, onCredentialSettled }: Props) {
  const { settings, pastedKey } = conversation
  // Open where there is room beside the conversation.
  const [isOpen] = useState(() => matchMedia('(min-width: 75rem)').matches)
  const field = (name: SettingName) => ({
    id: placeOf(name),
    value: String(settings[name]),
    onChange: (value: string) => setUp({ [name]: value }),
    mistake: mistakeIn(settings, name),
  })
  const names = toolNames(settings.tools)
  const choices = [...toolChoices, ...names]
  const ids = models.ids.includes(model) ? models.ids : [model, ...models.ids]
  return (
    <details class="fold settings" open={isOpen}>
      <summary>
        <h2>Settings</h2>
        <span class="fold-note">{model}</span>
      </summary>
      <div class="settings-fields">
        <CredentialField credential={credential} pastedKey={pastedKey} onSettled={onCredentialSettled} />
        <SelectField
          label="Model"
          value={model}
          options={ids.map(id => [id, id])}
          onChange={chosen => setUp({ model: chosen })}
          hint={models.hint}
        />
        <div class="numbers">
          {numbers.map(([name, label]) => (
            <NumberField key={name} label={label} {...field(name)} />
          ))}
        </div>
        <label class="choice">
          <input
            type="checkbox"
            checked={settings.stream}
            onChange={({ currentTarget }) => setUp({ stream: currentTarget.checked })}
          />
          Stream the answer
        </label>
        <JsonField
          {...field('tools')}
          label="Tools"
          sample={sampleTools}
          summary={names.length > 0 ? names.join(', ') : 'none'}
          hint="A list of functions that the model may call."
        />
        {names.length > 0 && (
          <SelectField
            label="Tool choice"
            value={choices.includes(settings.toolChoice) ? settings.toolChoice : 'auto'}
            options={choices.map(choice => [choice, choice])}
            onChange={toolChoice => setUp({ toolChoice })}
          />
        )}
        <JsonField
          {...field('responseFormat')}
          label="Response format"
          sample={sampleSchema}
          summary={settings.responseFormat.trim() === '' ? 'text' : 'JSON'}
          hint="A JSON schema, or a whole response_format."
        />
      </div>
    </details>
  )
}
