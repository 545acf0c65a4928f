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
  const { session, signOut } = useSession()
  const { failure, run } = useWorking()
  const leave = async () => {
    await signOut()
    navigate(routes.signIn)
  }
  switch (session.kind) {
    case 'unknown':
      return <div class="account" />
    case 'signed-out':
      return (
        <div class="account">
          <Link to={routes.signIn} class="item">
            <Icon name="account" />
            <span class="grow cut">Sign in</span>
          </Link>
        </div>
      )
    case 'user':
      return (
        <div class="account">
          <button type="button" class="item" popoverTarget={MENU} aria-label={`Account: ${session.email}`}>
            <Icon name="account" />
            <span class="grow cut">{session.email}</span>
            <Icon name="chevron" />
          </button>
          <div id={MENU} popover="auto" class="menu">
            <p class="menu-head quiet">
              Signed in as <strong class="ink">{session.email}</strong>
            </p>
            <FailureNote failure={failure} />
            <button type="button" class="item" onClick={() => run(leave)}>
              <Icon name="leave" />
              Sign out
            </button>
          </div>
        </div>
      )
  }
}
