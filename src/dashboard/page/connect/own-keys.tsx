/** Keys for an app: the development key, and new ones of the user. A new one is shown until the page is left. */
import { routes } from '../../routes.js'
import { useConfig } from '../config.jsx'
import { freshKey, signIn, userApi, useSession } from '../session/session.js'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Field, Select } from '../widgets/fields.jsx'
import { Form, useFields } from '../widgets/form.jsx'
import { Link } from '../widgets/link.jsx'

export function OwnKeys() {
  const session = useSession()
  const { sign_in: known, development_key } = useConfig()
  const fresh = freshKey.use()
  const mayCreate = session.kind === 'user' || (session.kind === 'signed-out' && known)
  return (
    <>
      {development_key && (
        <p class="row">
          <span>
            The public development key works here without an account: <code class="long-name">{development_key}</code>
          </span>
          <CopyButton text={development_key} what="the development key" bare />
        </p>
      )}
      {mayCreate ? <CreateKey /> : <p>Sign in to create keys.</p>}
      <div role="status">
        {fresh && (
          <div class="secret dashed stack">
            <p>
              Your key “{fresh.name}”. Copy it now: it stays here and in the examples until you leave or reload this
              page. Then nobody can show it again, because only its fingerprint is kept.
            </p>
            <code class="long-name">{fresh.key}</code>
            <div class="row">
              <CopyButton text={fresh.key} what="the key" main />
            </div>
          </div>
        )}
      </div>
      <p>
        <Link to={`${routes.people}?tab=keys`}>All keys</Link> are under People, where they can be revoked.
      </p>
    </>
  )
}

const HOUR_S = 3600
const DAY_S = 24 * HOUR_S

/** Lifetimes of a new key, in seconds. */
const lifetimes = [
  ['', 'Never'],
  [String(HOUR_S), 'In 1 hour'],
  [String(7 * DAY_S), 'In 7 days'],
  [String(30 * DAY_S), 'In 30 days'],
  [String(90 * DAY_S), 'In 90 days'],
] as const

/** If nobody is signed in, signs in the development user first. */
function CreateKey() {
  const session = useSession()
  const { sign_in: known } = useConfig()
  const { values, field } = useFields({ name: 'my app', lifetime: '' })
  const { name, lifetime } = values
  const isUser = session.kind === 'user'
  const create = async () => {
    if (!isUser && known) await signIn(known)
    // Lifetimes are sent as such, since Standin's clock may be adjusted.
    const expiry = lifetime === '' ? {} : { expires_in: Number(lifetime) }
    freshKey.set(await userApi('POST /keys', { body: { name, ...expiry } }))
  }
  return (
    <div class="one-line">
      <Form send={isUser || !known ? 'Create key' : `Create key as ${known.email}`} onSend={create}>
        <div class="fields">
          <Field label="Name" {...field('name')} maxLength={100} />
          <Select label="Expires" {...field('lifetime')} options={lifetimes} />
        </div>
      </Form>
    </div>
  )
}
