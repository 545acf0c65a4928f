/** Forgotten passwords: the form that requests a message, and the form that sets a new password. */
import { useState } from 'preact/hooks'
import { routes } from '../../dashboard/routes.js'
import { useConfig } from '../config.jsx'
import { navigate } from '../routing.js'
import { announce } from '../widgets/announcer.jsx'
import { Field } from '../widgets/fields.jsx'
import { Form } from '../widgets/form.jsx'
import { Link } from '../widgets/link.jsx'
import { Notice, Waiting } from '../widgets/states.jsx'
import { View } from '../widgets/view.jsx'
import { requireSuccess } from './auth-client.js'
import { useSession } from './session.jsx'

export function NewPassword() {
  const { session, auth } = useSession()
  const [password, setPassword] = useState('')

  async function change(): Promise<void> {
    requireSuccess(await (await auth).updateUser({ password }))
    announce('The new password is set.')
    navigate(routes.keys, { replace: true })
  }

  switch (session.kind) {
    case 'unknown':
      return <Waiting />
    case 'signed-out':
      return (
        <View title="This link opens nothing" narrow>
          <Notice tone="care">
            <p>
              It was used already, or it is too old. <Link to={routes.forgotPassword}>Ask for another one</Link>.
            </p>
          </Notice>
        </View>
      )
    case 'user':
      return (
        <View title="Choose a new password" lead={`For ${session.email}.`} narrow>
          <Form send="Set password" onSend={change}>
            {/* Tells the browser which user's password to save. */}
            <input type="text" autocomplete="username" value={session.email} hidden readOnly />
            <Field
              label="New password"
              type="password"
              autocomplete="new-password"
              value={password}
              onChange={setPassword}
            />
          </Form>
        </View>
      )
  }
}

/** Says where to find the message: in the outbox here, or in the real inbox with a live backend. */
export function WhereItWaits() {
  if (useConfig().auth_mode === 'proxy') return <>The live backend has sent it.</>
  return (
    <>
      Nothing is really sent from here: it waits in the <Link to={routes.outbox}>outbox</Link>.
    </>
  )
}

/** Requests a message for setting a new password. */
export function ForgotPassword() {
  const { auth } = useSession()
  const [email, setEmail] = useState('')
  const [askedFor, setAskedFor] = useState<string>()

  async function request(): Promise<void> {
    setAskedFor(undefined)
    const redirectTo = location.origin + routes.newPassword
    requireSuccess(await (await auth).resetPasswordForEmail(email, { redirectTo }))
    setAskedFor(email)
  }

  return (
    <View title="Forgot your password?" lead="A message with a link lets you choose a new one." narrow>
      <Form send="Send the link" onSend={request}>
        <Field label="E-mail" type="email" autocomplete="username" value={email} onChange={setEmail} />
      </Form>
      <div role="status">
        {askedFor !== undefined && (
          <Notice tone="good">
            <p>
              If {askedFor} has an account, there is a message to it now. <WhereItWaits />
            </p>
          </Notice>
        )}
      </div>
      <p class="elsewhere">
        <Link to={routes.signIn}>Back to signing in</Link>
      </p>
    </View>
  )
}
