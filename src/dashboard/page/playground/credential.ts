/** The credential that the playground shows to the platform. */
import { useFreshKey } from '../connect/fresh-key.jsx'
import { useSession } from '../session/session.jsx'
import type { Conversation, CredentialChoice } from './conversation.js'

export interface Credential {
  readonly choice: Exclude<CredentialChoice, 'automatic'>
  /** What can be chosen, with the words for it. */
  readonly options: readonly (readonly [choice: CredentialChoice, words: string])[]
  /** Whether there is anything to show. */
  readonly isThere: boolean
  /** Rejects with a Failure where the session is over. */
  bearer(): Promise<string | undefined>
}

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
