/** Shows a secret that cannot be shown again once the dialog is closed. */
import type { ListedUser } from '../../../supabase/operations.js'
import { control } from '../api.js'
import { Button } from '../widgets/button.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Dialog, openDialog } from '../widgets/dialog.jsx'
import { nameOf } from './user-states.jsx'

export const openSecret = (title: string, secret: string, note: string) =>
  openDialog(
    <Dialog title={title}>
      {close => (
        <>
          <p>{note}</p>
          <div class="secret dashed stack">
            <code class="long-name">{secret}</code>
          </div>
          <div class="form-buttons row">
            <CopyButton text={secret} what="the secret" main />
            <Button onClick={close}>Done</Button>
          </div>
        </>
      )}
    </Dialog>,
  )

/** Starts a session of a user without their password, and shows its access token. */
export async function signInAs(user: ListedUser): Promise<void> {
  const { access_token } = await control('POST /sessions', { body: { user_id: user.id } })
  const note =
    'The access token of a new session. It works until it expires or the session ends, and is shown only here.'
  openSecret(`Signed in as ${nameOf(user)}`, access_token, note)
}
