/** The numbers of a pace. */
import { useId } from 'preact/hooks'
import type { Pace, PaceInput } from '../../../core/pace.js'
import type { FieldErrors } from './applied.js'
import { NumberField } from './number-field.jsx'

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
