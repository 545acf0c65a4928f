/** Content for the developer, who is asked for a credential on other machines. */
import { useState } from 'preact/hooks'
import { serviceKey } from '../api.js'
import { Field, Form } from './fields.jsx'
import { Shown, type ShownProps } from './states.jsx'

/** Content for the developer. On other machines it requires the control token or a service key. */
export function DeveloperOnly<Value>({ of, children }: ShownProps<Value>) {
  const key = serviceKey.use()
  const [entered, setEntered] = useState('')
  if (![401, 403].includes(of.failure?.status ?? 0)) return <Shown of={of}>{children}</Shown>
  return (
    <div class="view-narrow stack">
      <p>{of.failure?.message}</p>
      <Form send="Show" onSend={async () => serviceKey.set(entered.trim())}>
        <Field
          type="password"
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
