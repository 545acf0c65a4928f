/** The API keys of the signed-in user. A key is created with one click, and shown until the page is left. */
import { useState } from 'preact/hooks'
import { useConfig } from '../config.jsx'
import { freshKey, signIn, userApi, useSession } from '../session/session.js'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Field, Select } from '../widgets/fields.jsx'
import { Form, useFields } from '../widgets/form.jsx'
import { EVERY_MS, useResource } from '../widgets/resource.js'
import { Shown } from '../widgets/states.jsx'
import { KeyTable, lifetimes } from './key-table.jsx'

export function OwnKeys() {
  const session = useSession()
  const { sign_in: known, development_key } = useConfig()
  const [made, setMade] = useState(0)
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
      {session.kind === 'user' || known ? (
        <CreateKey onMade={() => setMade(made + 1)} />
      ) : (
        session.kind === 'signed-out' && <p>Sign in to create keys.</p>
      )}
      <FreshKey />
      {session.kind === 'user' && <KeysOfUser key={session.email} made={made} />}
    </>
  )
}

/** If nobody is signed in, signs in the development user first. */
function CreateKey({ onMade }: { readonly onMade: () => void }) {
  const session = useSession()
  const { sign_in: known } = useConfig()
  const { values, field } = useFields({ name: 'my app', lifetime: 'never' })
  const { name, lifetime } = values
  const isUser = session.kind === 'user'
  const create = async () => {
    if (!isUser && known) await signIn(known)
    // Lifetimes are sent as such, since Standin's clock may be adjusted.
    const expiry = lifetime === 'never' ? {} : { expires_in: Number(lifetime) }
    freshKey.set(await userApi('POST /keys', { body: { name, ...expiry } }))
    onMade()
  }
  return (
    <Form send={isUser || !known ? 'Create key' : `Create key as ${known.email}`} onSend={create}>
      <div class="fields">
        <Field label="Name" {...field('name')} maxLength={100} />
        <Select label="Expires" {...field('lifetime')} options={lifetimes} />
      </div>
    </Form>
  )
}

/** The key that was just created, as long as the page has it. */
function FreshKey() {
  const fresh = freshKey.use()
  return (
    <div role="status">
      {fresh && (
        <div class="secret dashed stack">
          <p>
            Your key “{fresh.name}”. Copy it now: it stays here and in the examples until you leave or reload this page.
            After that, nobody can show it again, because only its fingerprint is kept.
          </p>
          <code class="long-name">{fresh.key}</code>
          <div class="row">
            <CopyButton text={fresh.key} what="the key" main />
          </div>
        </div>
      )}
    </div>
  )
}

/** `made` changes with each new key. */
function KeysOfUser({ made }: { readonly made: number }) {
  const loaded = useResource(async signal => (await userApi('GET /keys', { signal })).data, [made], EVERY_MS)
  return (
    <Shown of={loaded}>
      {keys => (
        <KeyTable
          keys={keys}
          none="You have no keys of your own yet."
          revoke={id => userApi('DELETE /keys/{id}', { id })}
          onRevoked={loaded.reload}
        />
      )}
    </Shown>
  )
}
