/** A developer's actions for a user. */
import type { ListedUser } from '../../../supabase/operations.js'
import { messagesAt, routes } from '../../routes.js'
import { useNow } from '../config.jsx'
import { navigate } from '../routing.js'
import { Button } from '../widgets/button.jsx'
import { AskButton, Confirm, openDialog } from '../widgets/dialog.jsx'
import { Select } from '../widgets/fields.jsx'
import { useAction, useFields } from '../widgets/form.jsx'
import { FailureNote } from '../widgets/states.jsx'
import { admin } from './admin.js'
import { signInAs } from './secret-dialog.jsx'
import { isBanned, nameOf } from './user-states.jsx'

interface Props {
  readonly of: ListedUser
  readonly onDone: () => void
}

/** As in Supabase's dashboard: a hundred years. */
const UNTIL_LIFTED = '876000h'

export function UserActions({ of: user, onDone }: Props) {
  const { busy, failure, run } = useAction()
  const name = nameOf(user)
  const isOut = isBanned(user, useNow())
  const ban = () => admin('PUT', `admin/users/${user.id}`, { ban_duration: isOut ? 'none' : UNTIL_LIFTED })
  return (
    <div class="row">
      <Button aria-disabled={busy} onClick={() => run(() => signInAs(user).then(onDone))}>
        Sign in as
      </Button>
      {user.email && <Button onClick={() => openDialog(<SendLink of={user} />)}>Send a link</Button>}
      <AskButton
        label={isOut ? 'Lift the ban' : 'Ban'}
        title={isOut ? `Lift the ban of ${name}?` : `Ban ${name}?`}
        send={isOut ? 'Lift' : 'Ban'}
        onSend={ban}
        onDone={onDone}
        said={isOut ? 'The ban was lifted.' : `${name} was banned.`}
      >
        <p>
          While a user is banned, their tokens and API keys are refused, and they cannot sign in. It lasts until it is
          lifted.
        </p>
      </AskButton>
      <AskButton
        label="Delete"
        title={`Delete ${name}?`}
        send="Delete user"
        onSend={() => admin('DELETE', `admin/users/${user.id}`, {})}
        onDone={() => navigate(routes.people)}
        said={`${name} was deleted.`}
      >
        <p>The user’s sessions and API keys are deleted, too. This cannot be undone.</p>
      </AskButton>
      <FailureNote failure={failure} />
    </div>
  )
}

const links = [
  ['magiclink', 'Magic link, to sign in'],
  ['recover', 'Password recovery'],
  ['resend', 'Confirmation of the address'],
] as const

/** Requests a mail for the user, as the app would. */
function SendLink({ of: { email } }: { readonly of: ListedUser }) {
  const { values, field } = useFields({ kind: 'magiclink' as (typeof links)[number][0] })
  return (
    <Confirm
      title={`Send a link to ${email}`}
      send="Send"
      onSend={() => admin('POST', values.kind, { email, ...(values.kind === 'resend' && { type: 'signup' }) })}
      onDone={() => navigate(messagesAt({ to: email }))}
      said="The link is among the messages."
    >
      <Select label="Link" {...field('kind')} options={links} />
      <p>Mail is captured locally, and shown under Messages.</p>
    </Confirm>
  )
}
