/** Signing in, signing up, and views that require a user. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { routes } from '../../routes.js'
import { useConfig } from '../config.jsx'
import { navigate } from '../routing.js'
import { Button } from '../widgets/button.jsx'
import { Field, PasswordField } from '../widgets/fields.jsx'
import { Form, useAction, useFields } from '../widgets/form.jsx'
import { Link } from '../widgets/link.jsx'
import { Notice, Waiting } from '../widgets/states.jsx'
import { View } from '../widgets/view.jsx'
import { requireSuccess } from './auth-client.js'
import { NewPasswordField } from './new-password-field.jsx'
import { auth, useSession } from './session.js'

/** The fields of both views. Opens the API keys once a user is signed in, unless the form is shown in place of another view. */
function useCredentials() {
  const session = useSession()
  useEffect(() => {
    if (session.kind === 'user') navigate(routes.connect, { replace: true })
  }, [session.kind])
  return { session, ...useFields({ email: '', password: '' }) }
}

interface EmailProps {
  readonly value: string
  readonly onChange: (value: string) => void
}

const EmailField = (props: EmailProps) => (
  <Field label="Email" name="email" type="email" autocomplete="username" {...props} />
)

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
      <p>
        <Link to={routes.connect}>Create an account</Link>
      </p>
    </View>
  )
}

export function SignUp() {
  const { values, field } = useCredentials()
  const [unconfirmed, setUnconfirmed] = useState(false)
  async function signUp(): Promise<void> {
    const options = { emailRedirectTo: location.origin + routes.connect }
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
      <p>
        <Link to={routes.connect}>Sign in instead</Link>
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

/** Says where to find a mail: in the outbox, or in the real inbox if a live backend sends it. */
function WhereMailIs() {
  if (useConfig().auth_mode === 'proxy') return <>The live backend has sent it.</>
  return (
    <>
      Mail is captured locally: open the <Link to={routes.people}>outbox</Link>.
    </>
  )
}

/** Sends the link that confirms an address again. */
function SendAgain({ email }: { readonly email: string }) {
  const { busy, failure, run } = useAction()
  const [isSent, setSent] = useState(false)
  const send = async () => {
    const options = { emailRedirectTo: location.origin + routes.connect }
    requireSuccess(await (await auth()).resend({ type: 'signup', email, options }))
    setSent(true)
  }
  return (
    <>
      <Button small aria-disabled={busy} onClick={() => run(send)}>
        Send again
      </Button>
      <p role="status">
        {failure?.message}
        {isSent && (
          <>
            Sent. <WhereMailIs />
          </>
        )}
      </p>
    </>
  )
}

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
