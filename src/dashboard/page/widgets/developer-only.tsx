/** Content for the developer. On other machines it requires the control token or a service key. */
import { useState } from 'preact/hooks'
import { serviceKey } from '../api.js'
import { PasswordField } from './fields.jsx'
import { Form } from './form.jsx'
import { Empty, Shown, type ShownProps } from './states.jsx'
import { View } from './view.jsx'

export function DeveloperOnly<Value>({ of, children }: ShownProps<Value>) {
  const key = serviceKey.use()
  const [entered, setEntered] = useState('')
  const { failure } = of
  const refused = [401, 403].includes(failure?.status ?? 0)
  if (!refused) return <Shown of={of}>{children}</Shown>
  return (
    <div class="view-narrow">
      <p>{failure?.message}</p>
      <Form send="Show" onSend={async () => serviceKey.set(entered.trim())}>
        <PasswordField
          label="Control token or service key"
          value={entered}
          onChange={setEntered}
          hint={
            key === undefined ? 'Standin prints the control token when it starts.' : 'Wrong token or key. Try again.'
          }
        />
      </Form>
    </div>
  )
}

/** Replaces a view whose data is in a live auth backend. */
export const KeptElsewhere = (about: { readonly title: string; readonly lead: string }) => (
  <View {...about}>
    <Empty title="Managed by the live backend">
      With <code>auth.mode: proxy</code>, users and messages stay in the live backend. See its own dashboard.
    </Empty>
  </View>
)
