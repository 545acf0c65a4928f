/** The credential of the playground and of calls of tools, and the models listed for it. A pasted key is kept in the page's memory only. */
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { DASHBOARD_HEADER } from '../../core/paths.js'
import { routes } from '../../dashboard/routes.js'
import { useConfig } from '../config.jsx'
import { useFreshKey } from '../connect/fresh-key.jsx'
import { Failure, failureOf, noAnswer } from '../failure.js'
import { useSession } from '../session/session.jsx'
import { announce } from '../widgets/announcer.jsx'
import { PasswordField, Select } from '../widgets/fields.jsx'
import { Link } from '../widgets/link.jsx'
import { goTo, placeOf } from './at-the-end.js'
import { belongTo, type Conversation, type CredentialChoice, edit } from './conversation.js'

interface Props {
  readonly credential: Credential
  readonly pastedKey: string
  /** Called when a pasted key is ready to be used. */
  readonly onSettled: () => void
}

export function CredentialField({ credential: { choice, options }, pastedKey, onSettled }: Props) {
  return (
    <>
      <Select
        id={placeOf('credential')}
        label="Credential"
        value={choice}
        options={options}
        onChange={chosen => edit({ credential: chosen as CredentialChoice })}
      />
      {choice === 'pasted' && <PastedKey value={pastedKey} onSettled={onSettled} />}
    </>
  )
}

function PastedKey({ value, onSettled }: { readonly value: string; readonly onSettled: () => void }) {
  const settle = (event: Event) => {
    event.preventDefault()
    onSettled()
  }
  return (
    // Browsers expect password fields in forms.
    <form onSubmit={settle}>
      <PasswordField
        id={placeOf('pastedKey')}
        label="API key"
        value={value}
        onChange={pastedKey => edit({ pastedKey })}
        onBlur={onSettled}
        hint={
          <>
            Use the key printed at startup, or <Link to={routes.keys}>create one</Link>. It is forgotten when you leave
            or reload this page.
          </>
        }
      />
    </form>
  )
}

export interface Credential {
  readonly choice: Exclude<CredentialChoice, 'automatic'>
  /** The available choices, with their labels. */
  readonly options: readonly (readonly [choice: CredentialChoice, words: string])[]
  /** Whether there is a credential to send. */
  readonly isThere: boolean
  /** Rejects with a Failure if the session has ended. */
  bearer(): Promise<string | undefined>
}

/** Whether there is a key to send, if one is to be pasted. Otherwise moves the focus to its field. */
export function requirePasted({ choice, isThere }: Credential): boolean {
  if (choice !== 'pasted' || isThere) return true
  goTo('pastedKey')
  const field = document.getElementById(placeOf('pastedKey'))
  if (field instanceof HTMLInputElement) field.reportValidity()
  announce('Not sent. Enter an API key first.')
  return false
}

/** The credential that the playground sends to the platform. */
export function useCredential({ credential: wish, pastedKey }: Conversation): Credential {
  const fresh = useFreshKey()
  const { session, token } = useSession()
  const { development_key: development } = useConfig()
  const isUser = session.kind === 'user'
  const possible = {
    automatic: false,
    fresh: fresh !== undefined,
    development: development !== undefined,
    // While it is not known whether a user is signed in, no key is asked for.
    session: session.kind !== 'signed-out',
    pasted: true,
    none: true,
  }
  const usual = fresh ? 'fresh' : possible.session ? 'session' : development ? 'development' : 'pasted'
  const choice = wish !== 'automatic' && possible[wish] ? wish : usual
  const options = [
    ...(fresh ? [['fresh', `New key “${fresh.name}”`] as const] : []),
    ...(possible.session ? [['session', isUser ? `My session (${session.email})` : 'My session'] as const] : []),
    ...(development ? [['development', 'Development key'] as const] : []),
    ['pasted', 'A key that I paste'] as const,
    ['none', 'None, to see the 401'] as const,
  ]
  const pasted = pastedKey.trim() || undefined
  switch (choice) {
    case 'fresh':
      return { choice, options, isThere: true, bearer: async () => fresh?.key }
    case 'development':
      return { choice, options, isThere: true, bearer: async () => development }
    case 'session':
      return { choice, options, isThere: isUser, bearer: token }
    case 'pasted':
      return { choice, options, isThere: pasted !== undefined, bearer: async () => pasted }
    case 'none':
      return { choice, options, isThere: false, bearer: async () => undefined }
  }
}

/** Clears the conversation and the pasted key when another user signs in. */
export function useOwner(): void {
  const { session } = useSession()
  const person = session.kind === 'user' ? session.email : undefined
  useLayoutEffect(() => {
    if (session.kind !== 'unknown') belongTo(person)
  }, [session.kind, person])
}

/** The models that the platform lists for a credential. */
export interface Models {
  readonly ids: readonly string[]
  /** Why only the configured models are shown, if the listing failed. */
  readonly hint: string | undefined
}

type Listed = { readonly ids: readonly string[] } | { readonly failure: Failure } | undefined

/**
 * `shown` changes when another credential is in use; a key that is still being typed is not used.
 * Asks once per credential: these requests appear in the developer's log and count towards the same limits.
 */
export function useModels({ bearer, isThere }: Credential, shown: string): Models {
  const { models: configured } = useConfig()
  const [listed, setListed] = useState<Listed>()

  useEffect(() => {
    setListed(undefined)
    if (!isThere) return
    const leaving = new AbortController()
    const settle = (found: Listed) => {
      if (!leaving.signal.aborted) setListed(found)
    }
    listModels(bearer, leaving.signal).then(
      ids => settle({ ids }),
      thrown => settle({ failure: failureOf(thrown) }),
    )
    return () => leaving.abort()
    // `bearer` is left out: it is a new function each time, but yields the same credential.
  }, [shown, isThere])

  if (listed && 'failure' in listed) {
    return { ids: configured, hint: `Couldn’t load models; showing the configured ones. (${listed.failure.message})` }
  }
  return { ids: listed?.ids.length ? listed.ids : configured, hint: undefined }
}

async function listModels(bearer: Credential['bearer'], signal: AbortSignal): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${await bearer()}`, [DASHBOARD_HEADER]: 'yes' }
  const response = await fetch('/v1/models', { headers, signal }).catch(() => {
    throw noAnswer()
  })
  const json = await response.json().catch(() => undefined)
  if (!response.ok) throw new Failure(response.status, String(json?.error ?? `status ${response.status}`))
  const models: unknown = json?.data
  return Array.isArray(models) ? models.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])) : []
}
