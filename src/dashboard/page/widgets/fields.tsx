/** Form fields, each with a label, an optional hint and an error that screen readers announce with it. */
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { Button } from './button.jsx'
import { useFieldError } from './form.jsx'

interface FieldBase {
  readonly label: string
  readonly id?: string | undefined
  readonly hint?: ComponentChildren
  readonly error?: string | undefined
  /** The field's name in a form's failure. */
  readonly name?: string | undefined
  /** Whether the label is visible to screen readers only. */
  readonly bare?: boolean | undefined
}

interface LabelledProps extends FieldBase {
  /** Further text for screen readers, by its id. */
  readonly describedBy?: string | undefined
  readonly children: (control: {
    readonly id: string
    readonly name: string | undefined
    readonly 'aria-invalid': boolean
    readonly 'aria-describedby': string | undefined
  }) => ComponentChildren
}

/** A label, a hint and an error around any control. */
function Labelled({ label, hint, bare, name, describedBy, children, ...more }: LabelledProps) {
  const ownId = useId()
  const answered = useFieldError(name)
  const error = more.error ?? answered
  const id = more.id ?? ownId
  const about = [describedBy, error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ')
  return (
    <div class="field stack">
      <label for={id} class={bare ? 'unseen' : undefined}>
        {label}
      </label>
      {children({ id, name, 'aria-invalid': error !== undefined, 'aria-describedby': about || undefined })}
      {error !== undefined && (
        <p class="error danger" id={`${id}-error`}>
          {error}
        </p>
      )}
      {hint && (
        <p class="hint quiet" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

interface FieldProps extends FieldBase {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly type?: 'text' | 'email' | 'password' | 'date' | 'tel'
  readonly autocomplete?: string
  readonly maxLength?: number
  readonly min?: string
  readonly required?: boolean
  readonly placeholder?: string | undefined
  readonly onBlur?: () => void
  readonly beside?: ComponentChildren
}

export function Field({ label, hint, error, bare, id, name, value, onChange, ...input }: FieldProps) {
  const { type = 'text', required = true, autocomplete = 'off', beside, ...more } = input
  return (
    <Labelled label={label} hint={hint} error={error} bare={bare} id={id} name={name}>
      {control => (
        <div class="line">
          <input
            {...control}
            {...more}
            // Preact's types for an input depend on a literal `type`.
            type={type as 'text'}
            value={value}
            required={required}
            autocomplete={autocomplete}
            spellcheck={false}
            autocapitalize="off"
            onInput={({ currentTarget }) => onChange(currentTarget.value)}
          />
          {beside}
        </div>
      )}
    </Labelled>
  )
}

/** A secret, hidden until the user asks to see it. */
export function PasswordField({ label, ...field }: Omit<FieldProps, 'type' | 'beside'>) {
  const [isShown, setShown] = useState(false)
  return (
    <Field
      {...field}
      label={label}
      type={isShown ? 'text' : 'password'}
      beside={
        <Button aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? 'Hide' : 'Show'}
          <span class="unseen"> {label}</span>
        </Button>
      }
    />
  )
}

interface TextAreaProps extends FieldBase {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly rows?: number
  readonly code?: boolean
  readonly placeholder?: string | undefined
  readonly onKeyDown?: (event: KeyboardEvent) => void
  readonly onPaste?: (event: ClipboardEvent) => void
}

export function TextArea({ label, hint, error, bare, id, name, value, onChange, code, ...area }: TextAreaProps) {
  const { rows = 3, ...more } = area
  return (
    <Labelled label={label} hint={hint} error={error} bare={bare} id={id} name={name}>
      {control => (
        <textarea
          {...control}
          {...more}
          rows={rows}
          class={code ? 'text-area-code' : undefined}
          value={value}
          spellcheck={!code}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </Labelled>
  )
}

interface NumberFieldProps extends FieldBase {
  /** As typed, so that invalid text stays until it is corrected. */
  readonly value: string
  readonly onChange: (value: string) => void
  readonly unit?: string | undefined
  readonly placeholder?: string | undefined
}

/** A number, with a unit if given. */
export function NumberField({ value, onChange, unit, placeholder, ...field }: NumberFieldProps) {
  const unitId = useId()
  return (
    <Labelled {...field} describedBy={unit && unitId}>
      {control => (
        <span class="number-box">
          <input
            {...control}
            // Not `type="number"`: such fields drop invalid text, and change when the page is scrolled over them.
            type="text"
            inputMode="decimal"
            autocomplete="off"
            value={value}
            placeholder={placeholder}
            onInput={({ currentTarget }) => onChange(currentTarget.value)}
          />
          {unit !== undefined && (
            <span class="number-unit quiet small" id={unitId}>
              {unit}
            </span>
          )}
        </span>
      )}
    </Labelled>
  )
}

/** Renders again after a choice: the browser shows it at once, but the owner may ask first and keep the old value. */
function useRedraw(): () => void {
  const [, render] = useState({})
  return () => render({})
}

/** A value with its label, or a value that is its own label. */
type SelectOption<Value extends string> = Value | readonly [value: Value, words: string, disabled?: boolean]

interface SelectProps<Value extends string> extends FieldBase {
  readonly value: Value
  readonly options: readonly SelectOption<Value>[]
  readonly onChange: (value: Value) => void
}

/** A choice of one value from a list. */
export function Select<Value extends string>({ value, options, onChange, ...field }: SelectProps<Value>) {
  const redraw = useRedraw()
  const choose = ({ currentTarget }: { readonly currentTarget: HTMLSelectElement }) => {
    onChange(currentTarget.value as Value)
    redraw()
  }
  return (
    <Labelled {...field}>
      {control => (
        <select {...control} value={value} onChange={choose}>
          {options.map(option => {
            const [one, words, disabled] = typeof option === 'string' ? [option, option] : option
            return (
              <option key={one} value={one} disabled={disabled}>
                {words}
              </option>
            )
          })}
        </select>
      )}
    </Labelled>
  )
}

interface Choice<Value> {
  readonly value: Value
  readonly label: string
  readonly hint?: ComponentChildren
  readonly disabled?: boolean
}

interface RadioGroupProps<Value> {
  readonly label: string
  readonly value: Value
  readonly options: readonly Choice<Value>[]
  readonly onChange: (value: Value) => void
  /** Whether the label is visible to screen readers only. */
  readonly bare?: boolean
}

/** A choice of one value, with all values visible. */
export function RadioGroup<Value>({ label, value, options, onChange, bare = false }: RadioGroupProps<Value>) {
  const id = useId()
  const redraw = useRedraw()
  const choose = (one: Value) => {
    onChange(one)
    redraw()
  }
  return (
    <fieldset>
      <legend class={bare ? 'unseen' : undefined}>{label}</legend>
      {options.map(({ value: one, label, hint, disabled = false }, index) => (
        <div key={label} class="choice">
          <input
            type="radio"
            id={`${id}-${index}`}
            name={id}
            checked={one === value}
            disabled={disabled}
            aria-describedby={hint ? `${id}-${index}-hint` : undefined}
            onChange={() => choose(one)}
          />
          <label for={`${id}-${index}`}>{label}</label>
          {hint && (
            <p class="hint quiet" id={`${id}-${index}-hint`}>
              {hint}
            </p>
          )}
        </div>
      ))}
    </fieldset>
  )
}

interface CheckboxProps {
  readonly label: string
  readonly value: boolean
  readonly onChange: (value: boolean) => void
}

export function Checkbox({ label, value, onChange }: CheckboxProps) {
  return (
    <label class="choice">
      <input type="checkbox" checked={value} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      {label}
    </label>
  )
}
