/** Sends settings as soon as they change. The last change wins, and each error is shown at its field. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Failure, failureOf } from '../failure.js'
import { announce } from '../widgets/announcer.jsx'

interface Applied<Settings> {
  /** The settings to show: those in force, or those being sent. */
  readonly shown: Settings
  readonly failure: Failure | undefined
  /** Sends the settings after the previous request has been answered. */
  apply(settings: Settings, said: string): void
  /** Shows the settings in force again, and drops rejected ones. */
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

  // What was read during a request may be older than what was sent. An effect would run too late to detect that.
  const read = useRef({ inForce, isFresh: true })
  if (read.current.inForce !== inForce) read.current = { inForce, isFresh: !sending.current }

  // Fresh settings replace the draft. A rejected draft stays, so that it can be corrected.
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

/** Assigns the server's error to a field: the message begins with the field's name. */
export interface FieldErrors {
  /** The error of a field; undefined if the error concerns another one. */
  of(field: string): string | undefined
  /** An error that concerns no field. */
  readonly other: string | undefined
}

/** `prefix` comes before the field names in messages: `models.gpt-4o.`. */
export function fieldErrors(failure: Failure | undefined, fields: readonly string[], prefix = ''): FieldErrors {
  const message = failure?.message
  const isAbout = (field: string) => message?.startsWith(`${prefix}${field} `) === true
  return {
    of: field => (isAbout(field) ? message : undefined),
    other: fields.some(isAbout) ? undefined : message,
  }
}
