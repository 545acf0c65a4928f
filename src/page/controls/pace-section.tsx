/** How fast answers stream, in general and for individual models. */
import { useState } from 'preact/hooks'
import type { PaceSettings } from '../../config/limit-options.js'
import { type Pace, type PaceInput, paceChange, paceInput, unpaced } from '../../core/pace.js'
import { control } from '../api.js'
import { useConfig } from '../config.jsx'
import { Button } from '../widgets/button.jsx'
import { Select } from '../widgets/fields.jsx'
import { FailureNote } from '../widgets/states.jsx'
import { OptionFields, problemsIn, useApplied } from './options.jsx'
import { type ControlProps, ControlSection, focusGroupHeading, Presets } from './section.jsx'

const EVERY = ''

const sliders = {
  firstTokenMs: { max: 5000, step: 50 },
  tokensPerSecond: { max: 200, step: 1 },
  jitter: { max: 1, step: 0.05 },
}

const presets: readonly (readonly [name: string, pace: Pace])[] = [
  ['Instant', unpaced],
  ['Fast', { firstTokenMs: 150, tokensPerSecond: 120, jitter: 0.1 }],
  ['Like a large model', { firstTokenMs: 700, tokensPerSecond: 35, jitter: 0.35 }],
  ['Slow', { firstTokenMs: 3000, tokensPerSecond: 6, jitter: 0.4 }],
]

const isSamePace = (one: Pace, other: Pace) =>
  (Object.keys(unpaced) as (keyof Pace)[]).every(key => one[key] === other[key])

export function PaceSection({ controls, reload }: ControlProps) {
  const { inForce, configured } = controls.pace
  const send = (body: PaceSettings) => control('PUT /pace', { body })
  const { shown, failure, apply } = useApplied({ inForce, send, reload })
  const [chosen, setChosen] = useState(EVERY)
  // The selected model may have been removed.
  const { models } = useConfig()
  const model = models.includes(chosen) ? chosen : EVERY
  const hasOwnPace = (id: string) => Object.keys(shown.models[id] ?? {}).length > 0
  const current = paceIn(shown, model)
  const change = (to: PaceInput) =>
    apply(changed(shown, model, to), model === EVERY ? 'The pace was changed.' : `The pace of ${model} was changed.`)

  return (
    <ControlSection
      of="pace"
      lead="How fast answers stream. A rule or a request can override it."
      restore={() => control('DELETE /pace')}
      {...{ controls, reload }}
    >
      <div class="control-line row">
        <Select
          label="For"
          value={model}
          options={[
            [EVERY, 'all models without their own pace'],
            ...models.map(id => [id, hasOwnPace(id) ? `${id} (own pace)` : id] as const),
          ]}
          onChange={setChosen}
        />
        {hasOwnPace(model) && (
          <Button
            onClick={({ currentTarget }) => {
              apply({ ...shown, models: { ...shown.models, [model]: {} } }, `${model} has the default pace.`)
              void focusGroupHeading(currentTarget, Promise.resolve(true))
            }}
          >
            Use the default pace
          </Button>
        )}
      </div>
      <Presets bare legend="Presets" of={presets} isChosen={pace => isSamePace(current, pace)} onChoose={change} />
      <OptionFields
        key={model}
        entries={paceInput.entries}
        settings={current}
        configured={paceIn(configured, model)}
        sliders={sliders}
        problemOf={(name, value) => problemsIn(paceChange, changed(shown, model, { [name]: value })).get(name)}
        onChange={(name, value) => change({ [name]: value })}
      />
      <p class="quiet">{inWords(current)}</p>
      <FailureNote failure={failure} />
    </ControlSection>
  )
}

/** The pace of a model, or of all models without their own. */
const paceIn = ({ models, ...usual }: PaceSettings, model: string): Pace => ({ ...usual, ...models[model] }) as Pace

function changed(settings: PaceSettings, model: string, to: PaceInput): PaceSettings {
  if (model === EVERY) return { ...settings, ...to } as PaceSettings
  const { models } = settings
  return { ...settings, models: { ...models, [model]: { ...models[model], ...to } } } as PaceSettings
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(ms < 9950 ? 1 : 0)}\u00a0s`

/** The tokens of a typical answer. */
const TYPICAL = 300

function inWords({ firstTokenMs, tokensPerSecond }: Pace): string {
  const wholeMs = firstTokenMs + (tokensPerSecond === 0 ? 0 : ((TYPICAL - 1) * 1000) / tokensPerSecond)
  if (wholeMs === 0) return `An answer of ${TYPICAL} tokens arrives at once.`
  const begins = firstTokenMs === 0 ? 'at once' : `after ${seconds(firstTokenMs)}`
  return `An answer of ${TYPICAL} tokens begins ${begins} and takes ${seconds(wholeMs)}.`
}
