/** Forms and their fields, and buttons that run an action: one at a time, with the failure where it belongs. */
import { type ComponentChildren, createContext, type InputHTMLAttributes } from 'preact'
import { useContext, useId, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'
import type { Failure } from '../api.js'
import { useAction } from './action.js'
import { Button } from './button.jsx'
import { Notice } from './states.jsx'

/** The values of a form's fields. */
export function useFields<Values extends object>(first: Values) {
  const [values, setValues] = useState(first)
  const change = (changes: Partial<Values>) => setValues(now => ({ ...now, ...changes }))
  /** The props that bind a field to its value. */
  const field = <Name extends keyof Values & string>(name: Name) => ({
    name,
    value: values[name],
    onChange: (value: Values[Name]) => setValues(now => ({ ...now, [name]: value })),
  })
  return { values, change, field }
}

const FormFailure = createContext<Failure | undefined>(undefined)

interface FormProps {
  readonly send: string
  readonly onSend: () => Promise<unknown>
  readonly said?: string | undefined
  readonly beside?: ComponentChildren
  readonly tone?: 'main' | 'danger' | 'plain'
  readonly small?: boolean
  /** Shown below a failure's message, such as a button that helps. */
  readonly remedy?: (failure: Failure) => ComponentChildren
  readonly children?: ComponentChildren
}

/** Shows a failure about one field at that field, and moves the focus there. */
export function Form({ send, onSend, said, beside, remedy, children, tone = 'main', small = false }: FormProps) {
  const { busy, failure, run } = useAction()
  const form = useRef<HTMLFormElement>(null)
  const field = failure?.about.field && form.current?.querySelector<HTMLElement>(`[name="${failure.about.field}"]`)
  useLayoutEffect(() => {
    if (field) field.focus()
  }, [failure])
  const submit = (event: Event) => {
    event.preventDefault()
    run(onSend, said)
  }
  return (
    <form ref={form} onSubmit={submit} aria-busy={busy}>
      <FormFailure.Provider value={failure}>{children}</FormFailure.Provider>
      {failure && !field && (
        <Notice tone="danger">
          <p>{failure.message}</p>
          {remedy?.(failure)}
        </Notice>
      )}
      <div class="form-buttons row">
        {beside}
        <Button type="submit" small={small} tone={tone === 'plain' ? undefined : tone} aria-disabled={busy}>
          {send}
        </Button>
      </div>
    </form>
  )
}

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
  readonly children: (control: {
    readonly id: string
    readonly name: string | undefined
    readonly 'aria-invalid': boolean
    readonly 'aria-describedby': string | undefined
  }) => ComponentChildren
}

/** A label, a hint and an error around any control; screen readers announce both with it. */
function Labelled({ label, hint, bare, name, children, ...more }: LabelledProps) {
  const ownId = useId()
  const failure = useContext(FormFailure)
  const error = more.error ?? (name !== undefined && failure?.about.field === name ? failure.message : undefined)
  const id = more.id ?? ownId
  const about = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ')
  return (
    <div class="field stack">
      <label for={id} class={bare ? 'unseen' : undefined}>
        {label}
      </label>
      {children({ id, name, 'aria-invalid': error !== undefined, 'aria-describedby': about || undefined })}
      {error !== undefined && (
        <p class="error small" id={`${id}-error`}>
          {error}
        </p>
      )}
      {hint && (
        <p class="quiet small" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

interface FieldProps
  extends FieldBase,
    Pick<InputHTMLAttributes<HTMLInputElement>, 'maxLength' | 'min' | 'required' | 'placeholder' | 'onBlur'> {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly type?: 'text' | 'email' | 'password' | 'date' | 'tel'
  readonly autocomplete?: string
  readonly beside?: ComponentChildren
}

export function Field({ label, hint, bare, id, name, value, onChange, ...input }: FieldProps) {
  const { type = 'text', required = true, autocomplete = 'off', beside, ...more } = input
  return (
    <Labelled label={label} hint={hint} bare={bare} id={id} name={name}>
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
        <Button about={label} aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? 'Hide' : 'Show'}
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
}

export function TextArea({ value, onChange, code, rows = 3, placeholder, onKeyDown, ...field }: TextAreaProps) {
  return (
    <Labelled {...field}>
      {control => (
        <textarea
          {...control}
          placeholder={placeholder}
          onKeyDown={onKeyDown}
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

/** A value with its label, or a value that is its own label. */
type SelectOption<Value extends string> = Value | readonly [value: Value, words: string]

interface SelectProps<Value extends string> extends FieldBase {
  readonly value: Value
  readonly options: readonly SelectOption<Value>[]
  readonly onChange: (value: Value) => void
}

/** A choice of one value from a list. */
export function Select<Value extends string>({ value, options, onChange, ...field }: SelectProps<Value>) {
  // The browser shows a choice at once, but the owner may ask first and keep the old value.
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const choose = ({ currentTarget }: { readonly currentTarget: HTMLSelectElement }) => {
    onChange(currentTarget.value as Value)
    redraw(undefined as never)
  }
  return (
    <Labelled {...field}>
      {control => (
        <select {...control} value={value} onChange={choose}>
          {options.map(option => {
            const [one, words] = typeof option === 'string' ? [option, option] : option
            return (
              <option key={one} value={one}>
                {words}
              </option>
            )
          })}
        </select>
      )}
    </Labelled>
  )
}

interface CheckboxProps {
  readonly label: string
  readonly value: boolean
  readonly onChange: (value: boolean) => void
}

export const Checkbox = ({ label, value, onChange }: CheckboxProps) => (
  <label class="choice">
    <input type="checkbox" checked={value} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
    {label}
  </label>
)
