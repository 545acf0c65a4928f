/** Settings that are sent as soon as they are changed. The last change wins, and errors go to the field that they are about. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Failure, failureOf } from '../failure.js'
import { announce } from '../widgets/announcer.jsx'

interface Applied<Settings> {
  /** What is shown: as it holds, or as it is on its way. */
  readonly shown: Settings
  readonly failure: Failure | undefined
  /** Sends it, once what was sent before has been answered. */
  apply(settings: Settings, said: string): void
  /** Shows what holds again, whatever was refused. */
  forget(): void
}

interface Parts<Settings> {
  readonly inForce: Settings
  readonly send: (settings: Settings) => Promise<void>
  readonly reload: () => void
}

export function useApplied<Settings>({ inForce, send, reload }: Parts<Settings>): Applied<Settings> {
  const [draft, setDraft] = useState<Settings>()
  const [failure, setFailure] = useState<Failure>()
  const next = useRef<{ readonly settings: Settings; readonly said: string } | undefined>(undefined)
  const sending = useRef(false)

  // What was read while something was on its way may be older than that. An effect comes too late to know it.
  const read = useRef({ inForce, isFresh: true })
  if (read.current.inForce !== inForce) read.current = { inForce, isFresh: !sending.current }

  // What holds has been read since: that is what is shown from here on. What was refused stays, for whoever wants to mend it.
  useEffect(() => {
    if (read.current.isFresh && !sending.current && !failure) setDraft(undefined)
  }, [inForce])

  async function sendAll(): Promise<void> {
    sending.current = true
    while (next.current) {
      const { settings, said } = next.current
      next.current = undefined
      try {
        await send(settings)
        setFailure(undefined)
        if (!next.current) announce(said)
      } catch (thrown) {
        setFailure(failureOf(thrown))
      }
    }
    sending.current = false
    reload()
  }

  return {
    shown: draft ?? inForce,
    failure,
    apply(settings, said) {
      setDraft(settings)
      next.current = { settings, said }
      if (!sending.current) void sendAll()
    },
    forget() {
      setDraft(undefined)
      setFailure(undefined)
    },
  }
}

/** Which field a sentence of the server is about: it begins with the field's name. */
export interface FieldErrors {
  /** What is wrong with a field; nothing where it is another one's. */
  of(field: string): string | undefined
  /** What is about no field. */
  readonly other: string | undefined
}

/** `prefix` stands before the names of the fields: `models.gpt-4o.`. */
export function fieldErrors(failure: Failure | undefined, fields: readonly string[], prefix = ''): FieldErrors {
  const message = failure?.message
  const isAbout = (field: string) => message?.startsWith(`${prefix}${field} `) === true
  return {
    of: field => (isAbout(field) ? message : undefined),
    other: fields.some(isAbout) ? undefined : message,
  }
}
