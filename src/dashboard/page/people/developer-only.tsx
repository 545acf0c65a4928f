/** A listing that is for the developer: from another machine it takes the control token, or a service key that is secret. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Loaded } from '../listing.js'
import { Field } from '../widgets/field.jsx'
import { Form } from '../widgets/form.jsx'
import { Shown } from '../widgets/shown.jsx'
import { useServiceKey } from './service-key.jsx'

interface Props<Value> {
  readonly of: Loaded<Value>
  readonly children: (value: Value) => ComponentChildren
}

export function DeveloperOnly<Value>({ of, children }: Props<Value>) {
  const { serviceKey, setServiceKey } = useServiceKey()
  const [written, setWritten] = useState('')
  const { listing } = of
  const refused = listing.kind !== 'loading' && [401, 403].includes(listing.failure?.status ?? 0)
  if (!refused) return <Shown of={of}>{children}</Shown>
  return (
    <div class="view-narrow">
      <p>{listing.failure?.message}</p>
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
