/** Lists for the developer. From other machines they need the control token or a secret service key. */
import { useState } from 'preact/hooks'
import { PasswordField } from './fields.jsx'
import { Form } from './form.jsx'
import { createShared } from './shared.js'
import { Empty, Shown, type ShownProps } from './states.jsx'
import { View } from './view.jsx'

/** The control token or service key entered on another machine. Kept in the page's memory only. */
const serviceKey = createShared<string | undefined>(undefined)

export const useServiceKey = serviceKey.use

export function DeveloperOnly<Value>({ of, children }: ShownProps<Value>) {
  const key = serviceKey.use()
  const [written, setWritten] = useState('')
  const { failure } = of
  const refused = [401, 403].includes(failure?.status ?? 0)
  if (!refused) return <Shown of={of}>{children}</Shown>
  return (
    <div class="view-narrow">
      <p>{failure?.message}</p>
      <Form send="Show" onSend={async () => serviceKey.set(written.trim())}>
        <PasswordField
          label="Control token or service key"
          value={written}
          onChange={setWritten}
          hint={key === undefined ? 'Standin prints the control token when it starts.' : 'That was not it.'}
        />
      </Form>
    </div>
  )
}

/** A view of what stays with a live auth backend. */
export const KeptElsewhere = (about: { readonly title: string; readonly lead: string }) => (
  <View {...about}>
    <Empty title="The live backend keeps these">
      With <code>auth.mode: proxy</code> its users and messages stay with it. Look at them in its own dashboard.
    </Empty>
  </View>
)
