/** Which credential is shown to the platform; a key that is pasted stays in the page's memory. */
import { useId, useState } from 'preact/hooks'
import { routes } from '../../routes.js'
import { Link } from '../widgets/link.jsx'
import { SelectField } from '../widgets/select-field.jsx'
import { type CredentialChoice, edit } from './conversation.js'
import type { Credential } from './credential.js'
import { placeOf } from './go-to.js'

interface Props {
  readonly credential: Credential
  readonly pastedKey: string
  /** Called when a key that was pasted may be used. */
  readonly onSettled: () => void
}

export function CredentialField({ credential: { choice, options }, pastedKey, onSettled }: Props) {
  return (
    <>
      <SelectField
        id={placeOf('credential')}
        label="Credential"
        value={choice}
        options={options}
        onChange={chosen => edit({ credential: chosen as CredentialChoice })}
      />
      {choice === 'pasted' && <PastedKey value={pastedKey} onSettled={onSettled} />}
    </>
  )
}

function PastedKey({ value, onSettled }: { readonly value: string; readonly onSettled: () => void }) {
  const id = useId()
  const [isShown, setShown] = useState(false)
  const settle = (event: Event) => {
    event.preventDefault()
    onSettled()
  }
  return (
    // Browsers want passwords in forms.
    <form class="field" onSubmit={settle}>
      <label for={id}>API key</label>
      <div class="field-with-button">
        <input
          id={id}
          // Preact tells the kinds of input apart by their type, and wants to know which one this is.
          type={(isShown ? 'text' : 'password') as 'password'}
          value={value}
          autocomplete="off"
          spellcheck={false}
          aria-describedby={`${id}-hint`}
          onInput={({ currentTarget }) => edit({ pastedKey: currentTarget.value })}
          onBlur={onSettled}
        />
        <button type="button" class="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? 'Hide' : 'Show'}
          <span class="unseen"> the API key</span>
        </button>
      </div>
      <p class="hint" id={`${id}-hint`}>
        One stands in the terminal; you make others under <Link to={routes.keys}>API keys</Link>. It is forgotten when
        you leave or reload this page.
      </p>
    </form>
  )
}
