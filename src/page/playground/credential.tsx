/** The credential that the playground sends, and the models that the platform lists for it. A pasted key stays in the memory of the page. */
import { useEffect, useId, useState } from 'preact/hooks'
import { routes } from '../../dashboard/routes.js'
import { useConfig } from '../config.jsx'
import { useFreshKey } from '../connect/fresh-key.jsx'
import { Failure, failureOf, noAnswer } from '../failure.js'
import { useSession } from '../session/session.jsx'
import { SelectField } from '../widgets/fields.jsx'
import { Link } from '../widgets/link.jsx'
import { placeOf } from './at-the-end.js'
import { type Conversation, type CredentialChoice, edit } from './conversation.js'

interface Props {
  readonly credential: Credential
  readonly pastedKey: string
  /** Called when a key that was pasted may be used. */
  readonly onSettled: () => void
}

export function CredentialField({ credential: { choice, options }, pastedKey, onSettled }: Props) {
  return (
    <>
      <SelectField
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
  const id = useId()
  const [isShown, setShown] = useState(false)
  const settle = (event: Event) => {
    event.preventDefault()
    onSettled()
  }
  return (
    // Browsers want passwords in forms.
    <form class="field" onSubmit={settle}>
      <label for={id}>API key</label>
      <div class="field-with-button">
        <input
          id={id}
          // Preact tells the kinds of input apart by their type, and wants to know which one this is.
          type={(isShown ? 'text' : 'password') as 'password'}
          value={value}
          autocomplete="off"
          spellcheck={false}
          aria-describedby={`${id}-hint`}
          onInput={({ currentTarget }) => edit({ pastedKey: currentTarget.value })}
          onBlur={onSettled}
        />
        <button type="button" class="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? 'Hide' : 'Show'}
          <span class="unseen"> the API key</span>
        </button>
      </div>
      <p class="hint" id={`${id}-hint`}>
        One stands in the terminal; you make others under <Link to={routes.keys}>API keys</Link>. It is forgotten when
        you leave or reload this page.
      </p>
    </form>
  )
}

export interface Credential {
  readonly choice: Exclude<CredentialChoice, 'automatic'>
  /** What can be chosen, with the words for it. */
  readonly options: readonly (readonly [choice: CredentialChoice, words: string])[]
  /** Whether there is anything to show. */
  readonly isThere: boolean
  /** Rejects with a Failure where the session is over. */
  bearer(): Promise<string | undefined>
}

/** The credential that the playground shows to the platform. */
export function useCredential({ credential: wish, pastedKey }: Conversation): Credential {
  const { fresh } = useFreshKey()
  const { session, token } = useSession()
  const isUser = session.kind === 'user'
  const possible = {
    automatic: false,
    fresh: fresh !== undefined,
    // No key is asked for while it is not yet known whether a user is signed in.
    session: session.kind !== 'nobody',
    pasted: true,
    none: true,
  }
  const usual = fresh ? 'fresh' : possible.session ? 'session' : 'pasted'
  const choice = wish !== 'automatic' && possible[wish] ? wish : usual
  const options = [
    ...(fresh ? [['fresh', `New key “${fresh.name}”`] as const] : []),
    ...(possible.session ? [['session', isUser ? `My session (${session.email})` : 'My session'] as const] : []),
    ['pasted', 'A key that I paste'] as const,
    ['none', 'None, to see the 401'] as const,
  ]
  const pasted = pastedKey.trim() || undefined
  switch (choice) {
    case 'fresh':
      return { choice, options, isThere: true, bearer: async () => fresh?.key }
    case 'session':
      return { choice, options, isThere: isUser, bearer: token }
    case 'pasted':
      return { choice, options, isThere: pasted !== undefined, bearer: async () => pasted }
    case 'none':
      return { choice, options, isThere: false, bearer: async () => undefined }
  }
}

/** The models that the platform lists for a credential. */
export interface Models {
  readonly ids: readonly string[]
  /** Why these are those of the configuration only. */
  readonly hint: string | undefined
}

type Listed = { readonly ids: readonly string[] } | { readonly failure: Failure } | undefined

/**
 * `shown` changes when another credential is shown; one that is still being typed is not asked with.
 * It is asked once for each: an app's developer reads the same log, and has the same limits.
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
    // What tells the credential is another function each time, and tells the same.
  }, [shown, isThere])

  if (listed && 'failure' in listed) {
    return { ids: configured, hint: `Those of the configuration: the listing says “${listed.failure.message}”` }
  }
  return { ids: listed?.ids.length ? listed.ids : configured, hint: undefined }
}

async function listModels(bearer: Credential['bearer'], signal: AbortSignal): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${await bearer()}` }
  const response = await fetch('/v1/models', { headers, signal }).catch(() => {
    throw noAnswer()
  })
  const json = await response.json().catch(() => undefined)
  if (!response.ok) throw new Failure(response.status, String(json?.error ?? `status ${response.status}`))
  const models: unknown = json?.data
  return Array.isArray(models) ? models.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])) : []
}
