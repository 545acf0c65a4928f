/** Signs somebody out, here or everywhere, once somebody has said that they mean it. */
import { useState } from 'preact/hooks'
import { announce } from '../widgets/announcer.jsx'
import { Dialog } from '../widgets/dialog.jsx'
import { Form } from '../widgets/form.jsx'
import { goOnFromHeading } from '../widgets/view.jsx'
import { nameOf, type SessionJson, type SessionsClient } from './sessions-client.js'

interface Props {
  readonly of: SessionJson
  readonly sessions: SessionsClient
  readonly onDone: () => void
  readonly onClosed: () => void
}

export function SignOutDialog({ of: session, sessions, onDone, onClosed }: Props) {
  const [everywhere, setEverywhere] = useState(false)
  const name = nameOf(session)
  const choices = [
    ['This session', false],
    ['All sessions of this user', true],
  ] as const
  return (
    <Dialog title={`Sign out ${name}?`} onClosed={onClosed}>
      {close => (
        <Form
          send="Sign out"
          tone="danger"
          onSend={async () => {
            await (everywhere ? sessions.endAllOf(session.user_id) : sessions.end(session.id))
            close()
            goOnFromHeading()
            onDone()
            announce(`${name} is signed out.`)
          }}
          beside={
            <button type="button" class="button" onClick={close}>
              Cancel
            </button>
          }
        >
          <fieldset>
            <legend>What ends</legend>
            {choices.map(([label, value]) => (
              <label key={label} class="choice">
                <input
                  type="radio"
                  name="everywhere"
                  checked={everywhere === value}
                  onChange={() => setEverywhere(value)}
                />
                {label}
              </label>
            ))}
          </fieldset>
          <p>Its access token is refused from now on, and it cannot be refreshed.</p>
        </Form>
      )}
    </Dialog>
  )
}
