/** Signing in, signing up, and views that require a user. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { routes, viewAt } from '../../dashboard/routes.js'
import { useConfig } from '../config.jsx'
import { navigate } from '../routing.js'
import { Button } from '../widgets/button.jsx'
import { PasswordField } from '../widgets/fields.jsx'
import { Form, useFields } from '../widgets/form.jsx'
import { Link } from '../widgets/link.jsx'
import { Notice, Waiting } from '../widgets/states.jsx'
import { View } from '../widgets/view.jsx'
import { requireSuccess } from './auth-client.js'
import { EmailField, NewPasswordField, SendAgain, WhereMailIs } from './password-views.jsx'
import { auth, useSession } from './session.js'

/** The fields of both views. Opens the API keys once a user is signed in, unless the form is shown in place of another view. */
function useCredentials() {
  const session = useSession()
  useEffect(() => {
    const view = viewAt(location.pathname)
    if (session.kind === 'user' && (view === 'signIn' || view === 'signUp')) navigate(routes.keys, { replace: true })
  }, [session.kind])
  return { session, ...useFields({ email: '', password: '' }) }
}

export function SignIn() {
  const { session, values, change, field } = useCredentials()
  const { sign_in: known } = useConfig()
  const signIn = async () => requireSuccess(await (await auth()).signInWithPassword(values))

  return (
    <View title="Sign in" lead="Sign in to create and manage API keys." narrow>
      {session.kind === 'signed-out' && session.because && <Notice tone="care">{session.because}</Notice>}
      <Form
        send="Sign in"
        onSend={signIn}
        remedy={({ about }) => about.code === 'email_not_confirmed' && <SendAgain email={values.email} />}
      >
        <EmailField {...field('email')} />
        <PasswordField label="Password" {...field('password')} autocomplete="current-password" />
      </Form>
      {known && (
        <div class="dashed row">
          <p class="grow long-name">
            Demo account: <code>{known.email}</code>, password <code>{known.password}</code>
          </p>
          <Button small onClick={() => change(known)}>
            Fill in
          </Button>
        </div>
      )}
      <p class="row spread">
        <Link to={routes.signUp}>Create an account</Link>
        <Link to={routes.forgotPassword}>Forgot your password?</Link>
      </p>
    </View>
  )
}

export function SignUp() {
  const { values, field } = useCredentials()
  const [unconfirmed, setUnconfirmed] = useState(false)
  async function signUp(): Promise<void> {
    const options = { emailRedirectTo: location.origin + routes.keys }
    const answer = await (await auth()).signUp({ ...values, options })
    requireSuccess(answer)
    setUnconfirmed(answer.data.session === null)
  }

  if (unconfirmed) return <ConfirmAddress email={values.email} />
  return (
    <View title="Create an account" lead="An account lets you create API keys for your apps." narrow>
      <Form send="Create account" onSend={signUp}>
        <EmailField {...field('email')} />
        <NewPasswordField {...field('password')} />
      </Form>
      <p class="row spread">
        <Link to={routes.signIn}>Sign in instead</Link>
      </p>
    </View>
  )
}

const ConfirmAddress = ({ email }: { readonly email: string }) => (
  <View title="Confirm your address" narrow>
    <Notice tone="good">
      <p>
        We’ve sent a link to {email}. <WhereMailIs />
      </p>
      <SendAgain email={email} />
    </Notice>
  </View>
)

/** Shows its content to signed-in users, and the sign-in form in its place to others. */
export function RequireUser({ children }: { readonly children: ComponentChildren }) {
  const session = useSession()
  switch (session.kind) {
    case 'unknown':
      return <Waiting />
    case 'signed-out':
      return <SignIn />
    case 'user':
      return <>{children}</>
  }
}
