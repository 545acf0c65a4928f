/** Signing in, signing up and signing out. The development user needs one click. */
import { useState } from 'preact/hooks'
import { messagesAt, routes } from '../../routes.js'
import { useConfig } from '../config.jsx'
import { auth, requireSuccess, signIn, signOut, useSession } from '../session/session.js'
import { Button } from '../widgets/button.jsx'
import { Disclosure } from '../widgets/disclosure.jsx'
import { Checkbox, Field, PasswordField } from '../widgets/fields.jsx'
import { Form, useAction, useFields } from '../widgets/form.jsx'
import { Link } from '../widgets/link.jsx'
import { FailureNote, Notice, Waiting } from '../widgets/states.jsx'
import { focusHeading } from '../widgets/view.jsx'

export function Account() {
  const session = useSession()
  const { sign_in: known } = useConfig()
  const { busy, failure, run } = useAction()
  if (session.kind === 'unknown') return <Waiting />
  if (session.kind === 'user') {
    return (
      <p class="row">
        <span>
          Signed in as <strong class="long-name">{session.email}</strong>.
        </span>
        <Button small onClick={() => run(signOut)}>
          Sign out
        </Button>
        <FailureNote failure={failure} />
      </p>
    )
  }
  return (
    <>
      {session.because && <Notice tone="care">{session.because}</Notice>}
      {known && (
        <p class="row">
          <Button
            tone="main"
            aria-disabled={busy}
            onClick={() => run(() => signIn(known).then(focusHeading), `Signed in as ${known.email}.`)}
          >
            Continue as {known.email}
          </Button>
          <span class="quiet">
            its password is <code>{known.password}</code>
          </span>
        </p>
      )}
      <FailureNote failure={failure} />
      {known ? (
        <Disclosure summary="Another account">
          <OtherAccount />
        </Disclosure>
      ) : (
        <OtherAccount />
      )}
    </>
  )
}

function OtherAccount() {
  const { values, field } = useFields({ email: '', password: '', isNew: false })
  const [unconfirmed, setUnconfirmed] = useState('')
  const { password_rule } = useConfig()
  const { email, password, isNew } = values
  async function signUp(): Promise<void> {
    const answer = await (await auth()).signUp({ email, password, options: afterLink })
    requireSuccess(answer)
    if (answer.data.session === null) setUnconfirmed(email)
    else focusHeading()
  }
  if (unconfirmed) return <Unconfirmed email={unconfirmed} />
  return (
    <div class="view-narrow">
      <Form
        send={isNew ? 'Create account' : 'Sign in'}
        onSend={() => (isNew ? signUp() : signIn({ email, password }).then(focusHeading))}
        remedy={({ about }) => about.code === 'email_not_confirmed' && <Unconfirmed email={email} />}
      >
        <Field label="Email" type="email" autocomplete="username" {...field('email')} />
        <PasswordField
          label="Password"
          autocomplete={isNew ? 'new-password' : 'current-password'}
          hint={isNew && password_rule}
          {...field('password')}
        />
        <Checkbox label="Create this account" {...field('isNew')} />
      </Form>
    </div>
  )
}

const afterLink = { emailRedirectTo: `${location.origin}${routes.connect}` }

/** Says where the link is that confirms an address. */
const Unconfirmed = ({ email }: { readonly email: string }) => (
  <p>
    Confirm your address first: a link was sent to {email}.{' '}
    {useConfig().auth_mode === 'local' && <Link to={messagesAt({ to: email })}>Open the message</Link>}
  </p>
)
