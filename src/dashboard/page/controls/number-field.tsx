/** A number that is applied as soon as it is settled, with a slider where one helps. */
import { useId, useState } from 'preact/hooks'

interface Props {
  readonly label: string
  readonly value: number
  readonly onChange: (value: number) => void
  readonly unit?: string
  readonly hint?: string | undefined
  /** What the server says of it. */
  readonly error?: string | undefined
  readonly step?: number
  /** How far the slider goes; without it there is none. More can be written. */
  readonly slider?: number
}

export function NumberField({ label, value, onChange, unit, hint, error, step = 1, slider }: Props) {
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
        <p class="mistake" id={`${id}-error`} role="alert">
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
