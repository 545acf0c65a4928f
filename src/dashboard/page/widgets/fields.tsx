/** Forms and their fields, and buttons that ask before they run an action. */
import { type ComponentChildren, type ComponentProps, createContext, type InputHTMLAttributes } from 'preact'
import { useContext, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Failure } from '../api.js'
import { useAction } from './action.js'
import { Button } from './button.jsx'
import { CloseButton, Dialog, openDialog, useClose } from './dialog.jsx'
import { Notice } from './states.jsx'

/** The values of a form's fields. */
export function useFields<Values extends object>(first: Values) {
  const [values, setValues] = useState(first)
  /** The props that bind a field to its value. */
  const field = <Name extends keyof Values & string>(name: Name) => ({
    name,
    value: values[name],
    onChange: (value: Values[Name]) => setValues(now => ({ ...now, [name]: value })),
  })
  return { values, field }
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

/** Shows a failure about one field at that field, and moves the focus there. In a dialog, it closes that in the end. */
export function Form({ send, onSend, said, beside, remedy, children, tone = 'main', small = false }: FormProps) {
  const { busy, failure, run } = useAction()
  const close = useClose()
  const form = useRef<HTMLFormElement>(null)
  const field = failure?.about.field && form.current?.querySelector<HTMLElement>(`[name="${failure.about.field}"]`)
  useLayoutEffect(() => {
    if (field) field.focus()
  }, [failure])
  const submit = (event: Event) => {
    event.preventDefault()
    run(async () => {
      await onSend()
      close?.()
    }, said)
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
        {close && <CloseButton />}
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
  readonly hint?: ComponentChildren
  /** The field's name in a form's failure. */
  readonly name?: string | undefined
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
function Labelled({ label, hint, name, children }: LabelledProps) {
  const id = useId()
  const failure = useContext(FormFailure)
  const error = name !== undefined && failure?.about.field === name ? failure.message : undefined
  const about = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ')
  return (
    <div class="field stack">
      <label for={id}>{label}</label>
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
    Pick<InputHTMLAttributes<HTMLInputElement>, 'maxLength' | 'required' | 'placeholder'> {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly type?: 'text' | 'email' | 'password'
  readonly autocomplete?: string
}

export function Field({ label, hint, name, value, onChange, ...input }: FieldProps) {
  const { type = 'text', required = true, autocomplete = 'off', ...more } = input
  return (
    <Labelled label={label} hint={hint} name={name}>
      {control => (
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
      )}
    </Labelled>
  )
}

interface SearchFieldProps extends Pick<FieldProps, 'label' | 'value' | 'onChange' | 'placeholder'> {
  readonly id: string
  readonly class?: string
}

/** A field that searches while the user types. Only screen readers announce its label. */
export const SearchField = ({ id, label, onChange, ...input }: SearchFieldProps) => (
  <>
    <label for={id} class="unseen">
      {label}
    </label>
    <input
      {...input}
      id={id}
      type="search"
      spellcheck={false}
      autocomplete="off"
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  </>
)

interface TextAreaProps extends FieldBase {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly rows?: number
  readonly code?: boolean
  readonly placeholder?: string | undefined
}

export function TextArea({ value, onChange, code, rows = 3, placeholder, ...field }: TextAreaProps) {
  return (
    <Labelled {...field}>
      {control => (
        <textarea
          {...control}
          placeholder={placeholder}
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
  return (
    <Labelled {...field}>
      {control => (
        <select {...control} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}>
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

interface AskButtonProps
  extends Pick<ComponentProps<typeof Button>, 'small' | 'about'>,
    Pick<FormProps, 'send' | 'onSend' | 'said' | 'children'> {
  readonly label: string
  readonly title: string
}

/** A button that asks before it deletes something. */
export function AskButton({ label, title, small = false, about, ...form }: AskButtonProps) {
  const ask = () =>
    openDialog(
      <Dialog title={title}>
        <Form tone="danger" {...form} />
      </Dialog>,
    )
  return (
    <Button tone="warns" small={small} about={about} onClick={ask}>
      {label}
    </Button>
  )
}
