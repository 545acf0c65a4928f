/** The API keys of all users, and those of the configuration; they can be created for anyone, and revoked. */
import { control } from '../api.js'
import { KeyTable } from '../connect/key-table.jsx'
import { Button } from '../widgets/button.jsx'
import { DeveloperOnly } from '../widgets/developer-only.jsx'
import { Confirm, openDialog } from '../widgets/dialog.jsx'
import { Field } from '../widgets/fields.jsx'
import { useFields } from '../widgets/form.jsx'
import { Link } from '../widgets/link.jsx'
import { EVERY_MS, useResource } from '../widgets/resource.js'
import { openSecret } from './sign-in-as.jsx'
import { nameOf, userAt } from './user-states.jsx'

/** All users that a list of owners may name. */
const MOST_OWNERS = 1000

async function allKeys(signal: AbortSignal) {
  const [keys, users] = await Promise.all([
    control('GET /keys', { signal }),
    control('GET /users', { query: { limit: MOST_OWNERS }, signal }),
  ])
  return { keys: keys.data, names: new Map(users.data.map(user => [user.id, nameOf(user)])) }
}

export function AllKeys() {
  const loaded = useResource(allKeys, [], EVERY_MS)
  return (
    <DeveloperOnly of={loaded}>
      {({ keys, names }) => (
        <div class="stack">
          <CreateFor onDone={loaded.reload} />
          <KeyTable
            keys={keys}
            none="No API keys."
            ownerOf={({ user_id }) =>
              user_id === null ? 'nobody' : <Link to={userAt(user_id)}>{names.get(user_id) ?? 'a user'}</Link>
            }
            revoke={id => control('DELETE /keys/{id}', { id })}
            onRevoked={loaded.reload}
          />
        </div>
      )}
    </DeveloperOnly>
  )
}

interface CreateProps {
  /** The address of the owner, if it is known. */
  readonly user?: string
  readonly onDone: () => void
}

/** A button that creates a key for a user, or for nobody. */
export const CreateFor = (props: CreateProps) => (
  <div class="row">
    <Button icon="plus" onClick={() => openDialog(<CreateDialog {...props} />)}>
      Create key
    </Button>
  </div>
)

function CreateDialog({ user = '', onDone }: CreateProps) {
  const { values, field } = useFields({ name: 'my app', owner: user })
  const { name, owner } = values
  return (
    <Confirm
      title="Create an API key"
      send="Create key"
      onSend={() => control('POST /keys', { body: { name, ...(owner && { user: owner }) } })}
      onDone={({ key }) => {
        onDone()
        openSecret({
          title: `The key “${name}”`,
          secret: key,
          what: 'key',
          note: 'Copy it now. Once this is closed, nobody can show it again, because only its fingerprint is kept.',
        })
      }}
    >
      <Field label="Name" {...field('name')} maxLength={100} />
      {user === '' && (
        <Field
          label="Owner"
          type="email"
          required={false}
          {...field('owner')}
          hint="The address of a user; an unknown one is signed up. Without it, the key belongs to nobody."
        />
      )}
    </Confirm>
  )
}
