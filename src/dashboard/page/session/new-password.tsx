/** Sets a new password, for whoever followed the link of a recovery message. */
import { useState } from 'preact/hooks'
import { routes } from '../../routes.js'
import { navigate } from '../routing.js'
import { announce } from '../widgets/announcer.jsx'
import { Field } from '../widgets/field.jsx'
import { Form } from '../widgets/form.jsx'
import { Link } from '../widgets/link.jsx'
import { Notice } from '../widgets/notice.jsx'
import { View } from '../widgets/view.jsx'
import { Waiting } from '../widgets/waiting.jsx'
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
    case 'nobody':
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
            {/* Tells the browser whose password it is to remember. */}
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
