/** The views and fields for passwords, and for the links that are sent by mail. */
import { useState } from 'preact/hooks'
import { routes } from '../../dashboard/routes.js'
import { useConfig } from '../config.jsx'
import { navigate } from '../routing.js'
import { Button } from '../widgets/button.jsx'
import { Field, PasswordField } from '../widgets/fields.jsx'
import { Form, useAction } from '../widgets/form.jsx'
import { Link } from '../widgets/link.jsx'
import { Notice, Waiting } from '../widgets/states.jsx'
import { View } from '../widgets/view.jsx'
import { requireSuccess } from './auth-client.js'
import { auth, useSession } from './session.js'

interface TextProps {
  readonly value: string
  readonly onChange: (value: string) => void
}

export const EmailField = (props: TextProps) => (
  <Field label="Email" name="email" type="email" autocomplete="username" {...props} />
)

interface NewPasswordProps extends TextProps {
  readonly label?: string
  readonly required?: boolean
  /** Shown after the rule for passwords. */
  readonly note?: string
}

/** A field for a new password, with the rule for passwords as its hint. */
export function NewPasswordField({ label = 'Password', note = '', ...field }: NewPasswordProps) {
  const hint = `${useConfig().password_rule ?? ''} ${note}`.trim()
  return <PasswordField name="password" autocomplete="new-password" {...field} {...{ label, hint }} />
}

export function NewPassword() {
  const session = useSession()
  const [password, setPassword] = useState('')

  async function change(): Promise<void> {
    requireSuccess(await (await auth()).updateUser({ password }))
    navigate(routes.keys, { replace: true })
  }

  switch (session.kind) {
    case 'unknown':
      return <Waiting />
    case 'signed-out':
      return (
        <View title="This link has expired or was already used" narrow>
          <p>
            <Link to={routes.forgotPassword}>Request another one</Link>
          </p>
        </View>
      )
    case 'user':
      return (
        <View title="Choose a new password" lead={`For ${session.email}.`} narrow>
          <Form send="Set password" onSend={change} said="The new password was set.">
            {/* Tells the browser which user's password to save. */}
            <input type="text" autocomplete="username" value={session.email} hidden readOnly />
            <NewPasswordField label="New password" value={password} onChange={setPassword} />
          </Form>
        </View>
      )
  }
}

/** Says where to find a mail: in the outbox, or in the real inbox if a live backend sends it. */
export function WhereMailIs() {
  if (useConfig().auth_mode === 'proxy') return <>The live backend has sent it.</>
  return (
    <>
      Mail is captured locally: open the <Link to={routes.outbox}>outbox</Link>.
    </>
  )
}

/** Sends the link that confirms an address again. */
export function SendAgain({ email }: { readonly email: string }) {
  const { busy, failure, run } = useAction()
  const [isSent, setSent] = useState(false)
  const send = async () => {
    const options = { emailRedirectTo: location.origin + routes.keys }
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

/** Requests a message for setting a new password. */
export function ForgotPassword() {
  const [email, setEmail] = useState('')
  const [askedFor, setAskedFor] = useState<string>()

  async function request(): Promise<void> {
    setAskedFor(undefined)
    const redirectTo = location.origin + routes.newPassword
    requireSuccess(await (await auth()).resetPasswordForEmail(email, { redirectTo }))
    setAskedFor(email)
  }

  return (
    <View title="Forgot your password?" lead="We’ll send you a link to choose a new one." narrow>
      <Form send="Send the link" onSend={request}>
        <EmailField value={email} onChange={setEmail} />
      </Form>
      <div role="status">
        {askedFor !== undefined && (
          <Notice tone="good">
            <p>
              If {askedFor} has an account, we’ve sent a reset link. <WhereMailIs />
            </p>
          </Notice>
        )}
      </div>
      <p class="row spread">
        <Link to={routes.signIn}>Back to sign-in</Link>
      </p>
    </View>
  )
}
