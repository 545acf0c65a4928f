/** Forms and buttons that run an action: one at a time, with an error message on failure. */
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Failure, failureOf } from '../failure.js'
import { announce } from './announcer.jsx'
import { Button } from './button.jsx'
import { Notice } from './states.jsx'

interface Props {
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

const FormFailure = createContext<Failure | undefined>(undefined)

/** The last failure's message, if it is about the field with this name. */
export function useFieldError(name: string | undefined): string | undefined {
  const failure = useContext(FormFailure)
  return name !== undefined && failure?.about.field === name ? failure.message : undefined
}

/** Shows a failure about one field at that field, and moves the focus there. */
export function Form({ send, onSend, said, beside, remedy, children, ...look }: Props) {
  const { tone = 'main', small = false } = look
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
    <form ref={form} class={small ? 'stack' : undefined} onSubmit={submit} aria-busy={busy}>
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

/** An action started by the user: whether it is running, and how it failed. */
export function useAction() {
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure>()
  /** Runs `work` unless it is already running, and announces `said` once it has succeeded. Returns whether it has. */
  const run = async (work: () => Promise<unknown>, said?: string) => {
    if (busy) return false
    setBusy(true)
    setFailure(undefined)
    try {
      await work()
      if (said !== undefined) announce(said)
      return true
    } catch (thrown) {
      setFailure(failureOf(thrown))
      return false
    } finally {
      setBusy(false)
    }
  }
  return { busy, failure, run }
}

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
