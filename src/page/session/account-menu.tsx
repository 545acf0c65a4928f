/** The signed-in user and a sign-out button; a sign-in link for others. */
import { routes } from '../../dashboard/routes.js'
import { navigate } from '../routing.js'
import { useWorking } from '../widgets/form.jsx'
import { Icon } from '../widgets/icon.jsx'
import { Link } from '../widgets/link.jsx'
import { FailureNote } from '../widgets/states.jsx'
import { useSession } from './session.jsx'

const MENU = 'account-menu'

export function AccountMenu() {
  const { session } = useSession()
  return (
    <div class="account">
      {session.kind === 'signed-out' && (
        <Link to={routes.signIn} class="item">
          <Icon name="account" />
          <span class="grow cut">Sign in</span>
        </Link>
      )}
      {session.kind === 'user' && <UserMenu email={session.email} />}
    </div>
  )
}

function UserMenu({ email }: { readonly email: string }) {
  const { signOut } = useSession()
  const { failure, run } = useWorking()
  const leave = async () => {
    await signOut()
    navigate(routes.signIn)
  }
  return (
    <>
      <button type="button" class="item" popoverTarget={MENU} aria-label={`Account: ${email}`}>
        <Icon name="account" />
        <span class="grow cut">{email}</span>
        <Icon name="chevron" />
      </button>
      <div id={MENU} popover="auto" class="menu">
        <p class="menu-head quiet">
          Signed in as <strong class="ink">{email}</strong>
        </p>
        <FailureNote failure={failure} />
        <button type="button" class="item" onClick={() => run(leave)}>
          <Icon name="leave" />
          Sign out
        </button>
      </div>
    </>
  )
}
