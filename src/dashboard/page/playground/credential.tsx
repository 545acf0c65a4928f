/** The credential that the playground sends. A pasted key stays in the memory of the page. */
import { useId, useState } from 'preact/hooks'
import { routes } from '../../routes.js'
import { useFreshKey } from '../connect/fresh-key.jsx'
import { useSession } from '../session/session.jsx'
import { SelectField } from '../widgets/fields.jsx'
import { Link } from '../widgets/link.jsx'
import { type Conversation, type CredentialChoice, edit } from './conversation.js'
import { placeOf } from './go-to.js'

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
    // Whoever may be signed in is not asked for a key while that is found out.
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
