/** Lists for the developer. From other machines they need the control token or a secret service key. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useConfig } from '../config.jsx'
import { Field } from '../widgets/fields.jsx'
import { Form } from '../widgets/form.jsx'
import type { Resource } from '../widgets/resource.js'
import { Empty, Shown } from '../widgets/states.jsx'
import { useServiceKey } from './service-key.jsx'

interface Props<Value> {
  readonly of: Resource<Value>
  readonly children: (value: Value) => ComponentChildren
}

export function DeveloperOnly<Value>({ of, children }: Props<Value>) {
  const { serviceKey, setServiceKey } = useServiceKey()
  const [written, setWritten] = useState('')
  const { failure } = of
  const refused = [401, 403].includes(failure?.status ?? 0)
  if (!refused) return <Shown of={of}>{children}</Shown>
  return (
    <div class="view-narrow">
      <p>{failure?.message}</p>
      <Form send="Show" onSend={async () => setServiceKey(written.trim())}>
        <Field
          label="Control token or service key"
          autocomplete="off"
          value={written}
          onChange={setWritten}
          hint={serviceKey === undefined ? 'Standin prints the control token when it starts.' : 'That was not it.'}
        />
      </Form>
    </div>
  )
}

/** Replaces lists whose data stays with the live auth backend. */
export function UnlessKeptElsewhere({ children }: { readonly children: ComponentChildren }) {
  if (useConfig().auth_mode === 'local') return <>{children}</>
  return (
    <Empty title="The live backend keeps these">
      <p>
        With <code>auth.mode: proxy</code> its users and messages stay with it. Look at them in its own dashboard.
      </p>
    </Empty>
  )
}
