/** Number fields for a pace. A number is applied as soon as it is settled. */
import { useId, useState } from 'preact/hooks'
import type { Pace, PaceInput } from '../../core/pace.js'
import type { FieldErrors } from './applied.js'

interface Props {
  readonly pace: Pace
  readonly errors: FieldErrors
  readonly onChange: (to: PaceInput) => void
}

const distributions: readonly (readonly [Pace['distribution'], string])[] = [
  ['fixed', 'not at all'],
  ['uniform', 'evenly'],
  ['lognormal', 'like a real one (lognormal)'],
]

export function PaceFields({ pace, errors, onChange }: Props) {
  const id = useId()
  return (
    <div class="pace-fields">
      <NumberField
        label="First token"
        unit="ms"
        value={pace.firstTokenMs}
        slider={5000}
        step={50}
        error={errors.of('firstTokenMs')}
        onChange={firstTokenMs => onChange({ firstTokenMs })}
      />
      <NumberField
        label="Tokens a second"
        value={pace.tokensPerSecond}
        slider={200}
        hint="0 is as fast as possible."
        error={errors.of('tokensPerSecond')}
        onChange={tokensPerSecond => onChange({ tokensPerSecond })}
      />
      <NumberField
        label="Jitter"
        value={pace.jitter}
        slider={1}
        step={0.05}
        hint="How far the pauses vary, from 0 to 1."
        error={errors.of('jitter')}
        onChange={jitter => onChange({ jitter })}
      />
      <details class="fold more">
        <summary>More</summary>
        <div class="more-fields">
          <div class="field">
            <label for={id}>Pauses vary</label>
            <select
              id={id}
              value={pace.distribution}
              onChange={({ currentTarget }) => onChange({ distribution: currentTarget.value as Pace['distribution'] })}
            >
              {distributions.map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </select>
          </div>
          <NumberField
            label="Prompt tokens a second"
            value={pace.promptTokensPerSecond}
            hint="How fast a prompt is read before the first token; 0 is at once."
            error={errors.of('promptTokensPerSecond')}
            onChange={promptTokensPerSecond => onChange({ promptTokensPerSecond })}
          />
          <NumberField
            label="Streams at full speed"
            value={pace.fullSpeedStreams}
            hint="When more play at once, each gets slower; 0 is any number."
            error={errors.of('fullSpeedStreams')}
            onChange={fullSpeedStreams => onChange({ fullSpeedStreams })}
          />
        </div>
      </details>
    </div>
  )
}

interface NumberFieldProps {
  readonly label: string
  readonly value: number
  readonly onChange: (value: number) => void
  readonly unit?: string
  readonly hint?: string | undefined
  /** The server's error for this field. */
  readonly error?: string | undefined
  readonly step?: number
  /** The slider's maximum; without it there is no slider. Larger numbers can be typed. */
  readonly slider?: number
}

/** A number that is applied as soon as it is settled, with an optional slider. */
export function NumberField({ label, value, onChange, unit, hint, error, step = 1, slider }: NumberFieldProps) {
  const id = useId()
  const [written, setWritten] = useState<string>()
  const shown = written ?? String(value)
  const isNumber = shown.trim() !== '' && Number.isFinite(Number(shown))
  const problem = isNumber ? error : 'Write a number.'

  function settle(text: string): void {
    if (text.trim() === '' || !Number.isFinite(Number(text))) return setWritten(text)
    setWritten(undefined)
    if (Number(text) !== value) onChange(Number(text))
  }

  const about = [unit && `${id}-unit`, problem && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ')
  return (
    <div class="field number-field">
      <label for={id}>{label}</label>
      <div class={slider === undefined ? 'number-line' : 'number-line number-sliding'}>
        {slider !== undefined && (
          <input
            type="range"
            aria-label={`${label}, slider`}
            min={0}
            max={slider}
            step={step}
            value={Math.min(Number(shown) || 0, slider)}
            onInput={({ currentTarget }) => setWritten(currentTarget.value)}
            onChange={({ currentTarget }) => settle(currentTarget.value)}
          />
        )}
        <span class="number-box">
          <input
            id={id}
            type="number"
            inputMode="decimal"
            min={0}
            step="any"
            value={shown}
            aria-invalid={problem !== undefined}
            aria-describedby={about || undefined}
            onInput={({ currentTarget }) => setWritten(currentTarget.value)}
            onChange={({ currentTarget }) => settle(currentTarget.value)}
          />
          {unit !== undefined && (
            <span class="number-unit" id={`${id}-unit`}>
              {unit}
            </span>
          )}
        </span>
      </div>
      {problem !== undefined && (
        <p class="error" id={`${id}-error`} role="alert">
          {problem}
        </p>
      )}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}
