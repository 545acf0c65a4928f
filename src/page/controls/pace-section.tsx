/** How fast streams are, in general and for single models. */
import { useEffect, useId, useState } from 'preact/hooks'
import type { PaceSettings } from '../../config/limit-options.js'
import type { Pace, PaceInput } from '../../core/pace.js'
import { variation } from '../../http/pacer.js'
import { useConfig } from '../config.jsx'
import { Notice } from '../widgets/states.jsx'
import { fieldErrors, useApplied } from './applied.js'
import { PaceFields } from './pace-fields.jsx'
import { type ControlProps, goOnInGroup, Section } from './section.jsx'

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
  // The selected model may have been removed meanwhile.
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
    await client.restorePace().finally(reload)
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

const none: Pace = {
  firstTokenMs: 0,
  tokensPerSecond: 0,
  jitter: 0,
  distribution: 'uniform',
  promptTokensPerSecond: 0,
  fullSpeedStreams: 0,
}

interface PacePreset {
  readonly name: string
  readonly pace: Pace
}

/** Named paces. */
const pacePresets: readonly PacePreset[] = [
  { name: 'Instant', pace: none },
  { name: 'Fast', pace: { ...none, firstTokenMs: 150, tokensPerSecond: 120, jitter: 0.1 } },
  {
    name: 'Like a large model',
    pace: { ...none, firstTokenMs: 700, tokensPerSecond: 35, jitter: 0.35, distribution: 'lognormal' },
  },
  {
    name: 'Slow',
    pace: { ...none, firstTokenMs: 3000, tokensPerSecond: 6, jitter: 0.4, distribution: 'lognormal' },
  },
]

const keys = Object.keys(none) as (keyof Pace)[]

const isSamePace = (one: Pace, other: Pace) => keys.every(key => one[key] === other[key])

const pieces =
  'The quick brown fox jumps over the lazy dog, looks around, and does it all over again, because you want to see how fast the words come.'.match(
    /\S+\s*/g,
  ) ?? []

/** When each piece arrives, in milliseconds from the start; computed as the server does. */
function timesOf(pace: Pace, seed: number): readonly number[] {
  const { firstTokenMs, tokensPerSecond } = pace
  const vary = variation(pace, seed) ?? (() => 1)
  const stepMs = tokensPerSecond === 0 ? 0 : 1000 / tokensPerSecond
  let atMs = firstTokenMs * vary()
  return pieces.map((_piece, index) => {
    if (index > 0) atMs += stepMs * vary()
    return atMs
  })
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(ms < 9950 ? 1 : 0)}\u00a0s`

/** How many tokens a typical answer has. */
const USUAL = 300

function inWords({ firstTokenMs, tokensPerSecond }: Pace): string {
  const wholeMs = firstTokenMs + (tokensPerSecond === 0 ? 0 : ((USUAL - 1) * 1000) / tokensPerSecond)
  if (wholeMs === 0) return `An answer of ${USUAL} tokens is there at once.`
  return `An answer of ${USUAL} tokens begins after ${seconds(firstTokenMs)} and takes ${seconds(wholeMs)}.`
}

/** Plays a text at a pace. */
function PacePreview({ pace }: { readonly pace: Pace }) {
  /** When playback started; undefined when the whole text is shown. */
  const [beganMs, setBeganMs] = useState<number>()
  const [played, setPlayed] = useState(0)
  const isPlaying = beganMs !== undefined
  const count = isPlaying ? played : pieces.length

  useEffect(() => {
    if (beganMs === undefined) return
    const times = timesOf(pace, beganMs)
    let frame = requestAnimationFrame(function show(nowMs) {
      const due = times.filter(ms => ms <= nowMs - beganMs).length
      setPlayed(due)
      if (due < times.length) frame = requestAnimationFrame(show)
      else setBeganMs(undefined)
    })
    return () => cancelAnimationFrame(frame)
    // Starts on demand, not whenever a number changes.
  }, [beganMs])

  function toggle(): void {
    setPlayed(0)
    setBeganMs(isPlaying ? undefined : performance.now())
  }

  return (
    <figure class="preview">
      <figcaption>
        <span>{inWords(pace)}</span>
        <button type="button" class="button button-small" onClick={toggle}>
          {isPlaying ? 'Stop' : 'Play it'}
        </button>
      </figcaption>
      {/* Purely visual; the sentence above says the same for screen readers. */}
      <p class="preview-text" aria-hidden="true">
        {pieces.slice(0, count).join('')}
        {isPlaying && <span class="preview-caret" />}
        <span class="preview-room">{pieces.slice(count).join('')}</span>
      </p>
    </figure>
  )
}
