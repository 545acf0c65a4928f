/** Asks for a message with which a new password can be set. */
import { useState } from 'preact/hooks'
import { routes } from '../../routes.js'
import { Field } from '../widgets/field.jsx'
import { Form } from '../widgets/form.jsx'
import { Link } from '../widgets/link.jsx'
import { Notice } from '../widgets/notice.jsx'
import { View } from '../widgets/view.jsx'
import { requireSuccess } from './auth-client.js'
import { useSession } from './session.jsx'
import { WhereItWaits } from './where-it-waits.jsx'

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
