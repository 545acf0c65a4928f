/** Signs a user in with e-mail and password. */
import { useEffect, useState } from 'preact/hooks'
import { routes, viewAt } from '../../routes.js'
import { useConfig } from '../config.jsx'
import { navigate } from '../routing.js'
import { Field } from '../widgets/field.jsx'
import { Form } from '../widgets/form.jsx'
import { Link } from '../widgets/link.jsx'
import { Notice } from '../widgets/notice.jsx'
import { View } from '../widgets/view.jsx'
import { requireSuccess } from './auth-client.js'
import { useSession } from './session.jsx'

export function SignIn() {
  const { session, auth } = useSession()
  const { sign_in: known } = useConfig()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')

  useEffect(() => {
    if (session.kind === 'user' && viewAt(location.pathname) === 'signIn') navigate(routes.keys, { replace: true })
  }, [session.kind])

  const signIn = async () => requireSuccess(await (await auth).signInWithPassword({ email, password }))

  return (
    <View title="Sign in" lead="To make the API keys with which your apps call the language model." narrow>
      {session.kind === 'nobody' && session.because && <Notice tone="care">{session.because}</Notice>}
      <Form send="Sign in" onSend={signIn}>
        <Field label="E-mail" type="email" autocomplete="username" value={email} onChange={setEmail} />
        <Field
          label="Password"
          type="password"
          autocomplete="current-password"
          value={password}
          onChange={setPassword}
        />
      </Form>
      {known && (
        <div class="known-user">
          <p>
            A user is here from the start: <code>{known.email}</code> with the password <code>{known.password}</code>
          </p>
          <button
            type="button"
            class="button button-small"
            onClick={() => {
              setEmail(known.email)
              setPassword(known.password)
            }}
          >
            Fill in
          </button>
        </div>
      )}
      <p class="elsewhere">
        <Link to={routes.signUp}>Create an account</Link>
        <Link to={routes.forgotPassword}>Forgot your password?</Link>
      </p>
    </View>
  )
}
