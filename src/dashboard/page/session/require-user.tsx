/** What only a signed-in user sees; anybody else is asked to sign in, at the same address. */
import type { ComponentChildren } from 'preact'
import { Waiting } from '../widgets/waiting.jsx'
import { useSession } from './session.jsx'
import { SignIn } from './sign-in.jsx'

export function RequireUser({ children }: { readonly children: ComponentChildren }) {
  const { session } = useSession()
  switch (session.kind) {
    case 'unknown':
      return <Waiting />
    case 'nobody':
      return <SignIn />
    case 'user':
      return <>{children}</>
  }
}
