/** The credential for the playground and for tool calls, and its models. A pasted key is kept in the page's memory only. */
import { useLayoutEffect, useState } from 'preact/hooks'
import { DASHBOARD_HEADER } from '../../../core/paths.js'
import { routes } from '../../routes.js'
import { useConfig } from '../config.jsx'
import { useFreshKey } from '../connect/fresh-key.jsx'
import { Failure, unanswered } from '../failure.js'
import { token, useSession } from '../session/session.js'
import { announce } from '../widgets/announcer.jsx'
import { PasswordField, Select } from '../widgets/fields.jsx'
import { errorIn } from '../widgets/json.js'
import { Link } from '../widgets/link.jsx'
import { useOnce } from '../widgets/resource.js'
import { goTo, placeOf } from './at-the-end.js'
import { type Conversation, type CredentialChoice, edit, setOwner, useConversation } from './conversation.js'

export function CredentialField({ credential: { choice, options }, pastedKey, onSettled }: PlaygroundCaller) {
  const settle = (event: Event) => {
    event.preventDefault()
    onSettled()
  }
  return (
    <>
      <Select
        id={placeOf('credential')}
        label="Credential"
        value={choice}
        options={options}
        onChange={chosen => edit({ credential: chosen })}
      />
      {choice === 'pasted' && (
        // Browsers expect password fields in forms.
        <form onSubmit={settle}>
          <PasswordField
            id={placeOf('pastedKey')}
            label="API key"
            value={pastedKey}
            onChange={pastedKey => edit({ pastedKey })}
            onBlur={onSettled}
            hint={
              <>
                Use the key printed at startup, or <Link to={routes.connect}>create one</Link>. It is forgotten when you
                leave or reload this page.
              </>
            }
          />
        </form>
      )}
    </>
  )
}

export type PlaygroundCaller = ReturnType<typeof useCaller>

/** The credential to send, in the playground and with tool calls. */
export function useCaller() {
  useOwner()
  const conversation = useConversation()
  const { pastedKey } = conversation
  const credential = useCredential(conversation)
  const [settledKey, setSettledKey] = useState(pastedKey)
  return {
    credential,
    pastedKey,
    /** Changes with the credential in use. A key that is still being typed is not in use. */
    shown: `${credential.choice} ${credential.isThere} ${settledKey}`,
    /** Call this when a pasted key is complete. */
    onSettled: () => setSettledKey(pastedKey),
  }
}

type Credential = ReturnType<typeof useCredential>

/** Returns whether the key is there, if one is to be pasted. If not, moves the focus to its field. */
export function requirePasted({ credential: { choice, isThere } }: PlaygroundCaller): boolean {
  if (choice !== 'pasted' || isThere) return true
  goTo('pastedKey')
  const field = document.getElementById(placeOf('pastedKey'))
  if (field instanceof HTMLInputElement) field.reportValidity()
  announce('Not sent. Enter an API key first.')
  return false
}

/** The chosen credential, or the first possible one. */
function useCredential({ credential: wish, pastedKey }: Conversation) {
  const fresh = useFreshKey()
  const session = useSession()
  const { development_key: development } = useConfig()
  const isUser = session.kind === 'user'
  const mine = isUser ? `My session (${session.email})` : 'My session'
  const key = pastedKey.trim() || undefined
  const pasted = possible('pasted', 'A key that I paste', key)
  // The first one is the default.
  const all: readonly ReturnType<typeof possible>[] = [
    ...(fresh ? [possible('fresh', `New key “${fresh.name}”`, fresh.key)] : []),
    // Also while the session is still unknown, so that the page does not ask for a key too early.
    ...(session.kind === 'signed-out'
      ? []
      : [{ choice: 'session' as const, words: mine, isThere: isUser, bearer: token }]),
    ...(development ? [possible('development', 'Development key', development)] : []),
    pasted,
    possible('none', 'None, to see the 401', undefined),
  ]
  const chosen = all.find(({ choice }) => choice === wish) ?? all[0] ?? pasted
  return { ...chosen, options: all.map(({ choice, words }) => [choice, words] as const) }
}

const possible = (choice: Exclude<CredentialChoice, 'automatic'>, words: string, key: string | undefined) => ({
  choice,
  words,
  isThere: key !== undefined,
  /** Rejects with a Failure if the session has ended. */
  bearer: async () => key,
})

/** Clears the conversation and the pasted key when another user signs in. */
function useOwner(): void {
  const session = useSession()
  const person = session.kind === 'user' ? session.email : undefined
  useLayoutEffect(() => {
    if (session.kind !== 'unknown') setOwner(person)
  }, [session.kind, person])
}

export type Models = ReturnType<typeof useModels>

interface Listed {
  readonly for: string
  readonly ids: readonly string[]
  readonly failure?: Failure
}

/**
 * The models that the platform lists for a credential. If that fails, shows the configured ones, and `hint` says why.
 * Sends one request per credential, because these count towards the same limits.
 */
export function useModels({ credential: { bearer, isThere }, shown }: PlaygroundCaller) {
  const { models: configured } = useConfig()
  const [last, setListed] = useState<Listed>()
  useOnce(
    {
      load: isThere ? signal => listModels(bearer, signal) : undefined,
      take: ids => setListed({ for: shown, ids }),
      failed: failure => setListed({ for: shown, ids: [], failure }),
    },
    // `bearer` is left out: it is a new function each time, but yields the same credential.
    [shown],
  )
  const { ids = [], failure } = last?.for === shown && isThere ? last : {}
  const hint = failure && `Couldn’t load models; showing the configured ones. (${failure.message})`
  return { ids: ids.length > 0 ? ids : configured, hint }
}

async function listModels(bearer: Credential['bearer'], signal: AbortSignal): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${await bearer()}`, [DASHBOARD_HEADER]: 'yes' }
  const response = await fetch('/v1/models', { headers, signal }).catch(unanswered)
  const json = await response.json().catch(() => undefined)
  if (!response.ok) throw new Failure(response.status, errorIn(json) ?? `status ${response.status}`)
  const models: unknown = json?.data
  return Array.isArray(models) ? models.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])) : []
}
