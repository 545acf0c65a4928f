/** Makes an account. */
import { useEffect, useState } from 'preact/hooks'
import { routes } from '../../routes.js'
import { navigate } from '../routing.js'
import { Field } from '../widgets/field.jsx'
import { Form } from '../widgets/form.jsx'
import { Link } from '../widgets/link.jsx'
import { Notice } from '../widgets/notice.jsx'
import { View } from '../widgets/view.jsx'
import { requireSuccess } from './auth-client.js'
import { useSession } from './session.jsx'
import { WhereItWaits } from './where-it-waits.jsx'

export function SignUp() {
  const { session, auth } = useSession()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [unconfirmed, setUnconfirmed] = useState(false)

  useEffect(() => {
    if (session.kind === 'user') navigate(routes.keys, { replace: true })
  }, [session.kind])

  async function signUp(): Promise<void> {
    const options = { emailRedirectTo: location.origin + routes.keys }
    const answer = await (await auth).signUp({ email, password, options })
    requireSuccess(answer)
    setUnconfirmed(answer.data.session === null)
  }

  if (unconfirmed) {
    return (
      <View title="Confirm your address" narrow>
        <Notice tone="good">
          <p>
            A message to {email} has the link that confirms it. <WhereItWaits />
          </p>
        </Notice>
      </View>
    )
  }

  return (
    <View title="Create an account" lead="With it you make the API keys of your apps." narrow>
      <Form send="Create account" onSend={signUp}>
        <Field label="E-mail" type="email" autocomplete="username" value={email} onChange={setEmail} />
        <Field label="Password" type="password" autocomplete="new-password" value={password} onChange={setPassword} />
      </Form>
      <p class="elsewhere">
        <Link to={routes.signIn}>Sign in instead</Link>
      </p>
    </View>
  )
}
