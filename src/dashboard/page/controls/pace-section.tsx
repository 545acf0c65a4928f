/** How fast streams are: usually, and for single models. */
import { useId, useState } from 'preact/hooks'
import type { PaceSettings } from '../../../core/changes.js'
import type { Pace, PaceInput } from '../../../core/pace.js'
import { useConfig } from '../config.jsx'
import { Notice } from '../widgets/notice.jsx'
import { useApplied } from './applied.js'
import { fieldErrors } from './field-errors.js'
import { goOnInGroup } from './go-on.js'
import { PaceFields } from './pace-fields.jsx'
import { isSamePace, pacePresets } from './pace-presets.js'
import { PacePreview } from './pace-preview.jsx'
import type { ControlProps } from './parts.js'
import { Section } from './section.jsx'

const EVERY = ''

const fields = [
  'firstTokenMs',
  'tokensPerSecond',
  'jitter',
  'distribution',
  'promptTokensPerSecond',
  'fullSpeedStreams',
] as const

export function PaceSection({ controls: { pace }, client, reload }: ControlProps) {
  const { inForce, isChanged } = pace
  const { shown, failure, apply, forget } = useApplied({ inForce, send: client.setPace, reload })
  const { models: known } = useConfig()
  const [chosen, setChosen] = useState(EVERY)
  const id = useId()
  // A model may go while somebody looks at it.
  const model = known.includes(chosen) ? chosen : EVERY
  const { models, ...usual } = shown
  const own = model === EVERY ? undefined : models[model]
  const current = { ...usual, ...own } as Pace
  const hasOwn = (id: string) => Object.keys(models[id] ?? {}).length > 0
  const errors = fieldErrors(failure, fields, model === EVERY ? '' : `models.${model}.`)

  function change(to: PaceInput): void {
    const settings =
      model === EVERY ? { ...shown, ...to } : { ...shown, models: { ...models, [model]: { ...own, ...to } } }
    apply(settings as PaceSettings, model === EVERY ? 'The pace is in force.' : `The pace of ${model} is in force.`)
  }

  const restore = async () => {
    forget()
    await client.restore('pace').finally(reload)
  }

  return (
    <Section
      title="Pace"
      lead="The rhythm of streams. A rule and a request can have their own."
      state={{ isChanged, restore }}
    >
      <div class="field pace-model">
        <label for={id}>For</label>
        <select id={id} value={model} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
          <option value={EVERY}>every model without a pace of its own</option>
          {known.map(id => (
            <option key={id} value={id}>
              {hasOwn(id) ? `${id} (has its own)` : id}
            </option>
          ))}
        </select>
        {model !== EVERY && hasOwn(model) && (
          <button
            type="button"
            class="button"
            onClick={({ currentTarget }) => {
              apply({ ...shown, models: { ...models, [model]: {} } }, `${model} goes by the usual pace.`)
              void goOnInGroup(currentTarget, Promise.resolve(true))
            }}
          >
            Take its own away
          </button>
        )}
      </div>
      <fieldset class="presets">
        <legend class="unseen">Presets</legend>
        {pacePresets.map(({ name, pace }) => (
          <button
            key={name}
            type="button"
            class="button button-small preset"
            aria-pressed={isSamePace(current, pace)}
            onClick={() => change(pace)}
          >
            {name}
          </button>
        ))}
      </fieldset>
      <div class="pace">
        <PaceFields key={model} pace={current} errors={errors} onChange={change} />
        <PacePreview pace={current} />
      </div>
      {errors.other !== undefined && <Notice tone="danger">{errors.other}</Notice>}
    </Section>
  )
}
