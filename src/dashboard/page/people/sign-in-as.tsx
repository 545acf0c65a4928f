/** Starts a session of a user without their password, and shows its access token; and a dialog for any new secret. */
import type { ListedUser } from '../../../supabase/operations.js'
import { control } from '../api.js'
import { Button } from '../widgets/button.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Dialog, openDialog } from '../widgets/dialog.jsx'
import { useAction } from '../widgets/form.jsx'
import { FailureNote } from '../widgets/states.jsx'
import { nameOf } from './user-states.jsx'

interface Props {
  readonly of: ListedUser
  readonly onDone: () => void
  readonly small?: boolean
}

export function SignInAs({ of: user, onDone, small = false }: Props) {
  const { busy, failure, run } = useAction()
  const signIn = async () => {
    const { access_token } = await control('POST /sessions', { body: { user_id: user.id } })
    onDone()
    openSecret({
      title: `Signed in as ${nameOf(user)}`,
      secret: access_token,
      what: 'access token',
      note: 'The access token of a new session. It works until it expires or the session ends. It is shown only here.',
    })
  }
  return (
    <>
      <Button small={small} about={small ? nameOf(user) : undefined} aria-disabled={busy} onClick={() => run(signIn)}>
        Sign in as
      </Button>
      <FailureNote failure={failure} />
    </>
  )
}

interface SecretProps {
  readonly title: string
  readonly secret: string
  /** The noun for it, such as `key`. */
  readonly what: string
  readonly note: string
}

/** Shows a secret that cannot be shown again once the dialog is closed. */
export const openSecret = ({ title, secret, what, note }: SecretProps) =>
  openDialog(
    <Dialog title={title}>
      {close => (
        <>
          <p>{note}</p>
          <div class="secret dashed stack">
            <code class="long-name">{secret}</code>
            <div class="row">
              <CopyButton text={secret} what={`the ${what}`} main />
            </div>
          </div>
          <div class="form-buttons row">
            <Button onClick={close}>Done</Button>
          </div>
        </>
      )}
    </Dialog>,
  )
