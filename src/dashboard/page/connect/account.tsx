/** The account of the page's user, for which the development user needs one click, and keys for an app. */
import { useState } from 'preact/hooks'
import { messagesAt, routes } from '../../routes.js'
import { useConfig } from '../config.jsx'
import { Link } from '../routing.jsx'
import { createKey, freshKey, signIn, signOut, signUp, useSession } from '../session/session.js'
import { useAction } from '../widgets/action.js'
import { Button, CopyButton } from '../widgets/button.jsx'
import { Checkbox, Field, Form, Select, useFields } from '../widgets/fields.jsx'
import { FailureNote, Notice, Waiting } from '../widgets/states.jsx'
import { Disclosure, focusHeading } from '../widgets/view.jsx'

export function Account() {
  const session = useSession()
  const { sign_in: known } = useConfig()
  const { busy, failure, run } = useAction()
  if (session.kind === 'unknown') return <Waiting />
  if (session.kind === 'user') return <SignedIn as={session.email} />
  const other = <OtherAccount />
  return (
    <>
      {session.because && <Notice tone="care">{session.because}</Notice>}
      {known && (
        <p class="row">
          <Button
            tone="main"
            aria-disabled={busy}
            onClick={() => run(() => signIn(known).then(focusHeading), `Signed in as ${known.email}.`)}
          >
            Continue as {known.email}
          </Button>
          <span class="quiet">
            its password is <code>{known.password}</code>
          </span>
        </p>
      )}
      <FailureNote failure={failure} />
      {known ? <Disclosure summary="Another account">{other}</Disclosure> : other}
    </>
  )
}

function SignedIn({ as: email }: { readonly as: string }) {
  const { failure, run } = useAction()
  return (
    <p class="row">
      <span>
        Signed in as <strong class="long-name">{email}</strong>.
      </span>
      <Button small onClick={() => run(signOut)}>
        Sign out
      </Button>
      <FailureNote failure={failure} />
    </p>
  )
}

function OtherAccount() {
  const { values, field } = useFields({ email: '', password: '', isNew: false })
  const [unconfirmed, setUnconfirmed] = useState('')
  const { password_rule } = useConfig()
  const { email, password, isNew } = values
  async function send(): Promise<void> {
    const account = { email, password }
    if (isNew && !(await signUp(account, location.origin + routes.connect))) return setUnconfirmed(email)
    if (!isNew) await signIn(account)
    focusHeading()
  }
  if (unconfirmed) return <Unconfirmed email={unconfirmed} />
  return (
    <div class="view-narrow">
      <Form
        send={isNew ? 'Create account' : 'Sign in'}
        onSend={send}
        remedy={({ about }) => about.code === 'email_not_confirmed' && <Unconfirmed email={email} />}
      >
        <Field label="Email" type="email" autocomplete="username" {...field('email')} />
        <Field
          label="Password"
          type="password"
          autocomplete={isNew ? 'new-password' : 'current-password'}
          hint={isNew && password_rule}
          {...field('password')}
        />
        <Checkbox label="Create this account" {...field('isNew')} />
      </Form>
    </div>
  )
}

/** Says where the link is that confirms an address. */
const Unconfirmed = ({ email }: { readonly email: string }) => (
  <p>
    Confirm your address first: a link was sent to {email}.{' '}
    {useConfig().auth_mode === 'local' && <Link to={messagesAt({ to: email })}>Open the message</Link>}
  </p>
)

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
    await createKey({ name, ...expiry })
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
