/** The parameters of a request. */
import type { ComponentProps } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../widgets/button.jsx'
import { Disclosure } from '../widgets/disclosure.jsx'
import { Checkbox, NumberField, Select, TextArea } from '../widgets/fields.jsx'
import { indented, parsed } from '../widgets/json.js'
import { placeOf } from './at-the-end.js'
import { setUp } from './conversation.js'
import { CredentialField, type Models, type PlaygroundCaller } from './credential.jsx'
import { type PlaygroundSettings, problemIn, type SettingName, toolChoices, toolNames } from './settings.js'

interface Props {
  readonly settings: PlaygroundSettings
  readonly caller: PlaygroundCaller
  readonly models: Models
  readonly model: string
}

const numbers = [
  ['temperature', 'Temperature'],
  ['maxTokens', 'Max tokens'],
  ['seed', 'Seed'],
] as const

export function SettingsPanel({ settings, caller, models, model }: Props) {
  // Open if there is room beside the conversation.
  const [isOpen] = useState(() => matchMedia('(min-width: 75rem)').matches)
  const field = (name: SettingName) => ({
    id: placeOf(name),
    value: String(settings[name]),
    onChange: (value: string) => setUp({ [name]: value }),
    error: problemIn(settings, name),
  })
  const names = toolNames(settings.tools)
  const choices = [...toolChoices, ...names]
  const ids = models.ids.includes(model) ? models.ids : [model, ...models.ids]
  return (
    <Disclosure class="settings" summary={<h2>Settings</h2>} note={model} open={isOpen}>
      <CredentialField {...caller} />
      <Select
        label="Model"
        value={model}
        options={ids}
        onChange={chosen => setUp({ model: chosen })}
        hint={models.hint}
      />
      <div class="numbers">
        {numbers.map(([name, label]) => (
          <NumberField key={name} label={label} placeholder="not sent" {...field(name)} />
        ))}
      </div>
      <Checkbox label="Stream the answer" value={settings.stream} onChange={stream => setUp({ stream })} />
      <JsonField {...field('tools')} {...tools} note={names.join(', ') || 'none'} />
      {names.length > 0 && (
        <Select
          label="Tool choice"
          value={choices.includes(settings.toolChoice) ? settings.toolChoice : 'auto'}
          options={choices}
          onChange={toolChoice => setUp({ toolChoice })}
        />
      )}
      <JsonField {...field('responseFormat')} {...responseFormat} note={noteOn(settings.responseFormat, 'text')} />
      <JsonField {...field('extra')} {...extra} note={noteOn(settings.extra, 'none')} />
    </Disclosure>
  )
}

interface JsonFieldProps extends ComponentProps<typeof TextArea> {
  readonly sample: string
  readonly note: string
}

const noteOn = (text: string, none: string) => (text.trim() === '' ? none : 'JSON')

/** A field for a part of the request in JSON, folded away at first. */
function JsonField({ sample, note, ...field }: JsonFieldProps) {
  const { label, value, onChange } = field
  return (
    <Disclosure summary={label} note={note}>
      <TextArea {...field} label={`${label} (JSON)`} rows={8} code onPaste={pasteFormatted} />
      <div class="row">
        {value === '' ? (
          <Button small about={`of ${label}`} onClick={() => onChange(sample)}>
            Fill in a sample
          </Button>
        ) : (
          <Button small about={label} onClick={() => onChange('')}>
            Remove
          </Button>
        )}
      </div>
    </Disclosure>
  )
}

/** Formats pasted JSON. Inserted as typed text, so that it can be undone. */
function pasteFormatted(event: ClipboardEvent): void {
  const value = parsed(event.clipboardData?.getData('text') ?? '')
  // Anything else, such as a fragment of JSON, is pasted as it is.
  if (value === undefined) return
  event.preventDefault()
  document.execCommand('insertText', false, indented(value))
}

const tools = {
  label: 'Tools',
  hint: 'A list of functions that the model may call.',
  sample: indented([
    {
      type: 'function',
      function: {
        name: 'get_weather',
        description: 'Gets the weather for a city.',
        parameters: {
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
        },
      },
    },
  ]),
}

const extra = {
  label: 'Other parameters',
  hint: 'Further fields of the request, such as top_p or stop.',
  sample: indented({ top_p: 0.9, stop: ['END'] }),
}

const responseFormat = {
  label: 'Response format',
  hint: 'A JSON schema, or a whole response_format.',
  sample: indented({
    type: 'object',
    properties: {
      name: { type: 'string' },
      age: { type: 'integer', minimum: 0 },
    },
    required: ['name', 'age'],
    additionalProperties: false,
  }),
}
