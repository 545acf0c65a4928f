/** The frame around every view: the brand, the navigation, the account, and the mode. */
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { routes, type View } from '../routes.js'
import { useConfig } from './config.jsx'
import { NOT_RUNNING } from './failure.js'
import { navigate, useNavigation } from './routing.js'
import { signOut, useSession } from './session/session.js'
import { useUnseenMessages } from './unseen.js'
import { useAction } from './widgets/form.jsx'
import { Icon, type IconName } from './widgets/icon.jsx'
import { Link } from './widgets/link.jsx'
import { useIsAnswering } from './widgets/resource.js'
import { FailureNote, Notice } from './widgets/states.jsx'

interface Props {
  /** Undefined for an address without a view. */
  readonly view: View | undefined
  readonly children: ComponentChildren
}

export function Frame({ view, children }: Props) {
  const { mode, version } = useConfig()
  const isAnswering = useIsAnswering()
  return (
    <div class="frame">
      <a class="skip unseen" href="#content">
        Skip to the content
      </a>
      <header class="rail">
        <Brand />
        <Navigation view={view} />
        <p class="mode quiet small">
          Standin {version}, mode <strong class="accent">{mode}</strong>
        </p>
        <AccountMenu />
      </header>
      <main id="content" tabIndex={-1}>
        {!isAnswering && <Notice tone="care">{NOT_RUNNING}</Notice>}
        {children}
      </main>
    </div>
  )
}

/** The logo and the name. */
function Brand() {
  return (
    <Link to={routes.connect} class="brand">
      <svg class="mark" viewBox="0 0 20 20" aria-hidden="true">
        <circle
          class="quiet"
          cx="8"
          cy="8"
          r="6.2"
          fill="none"
          stroke="currentColor"
          stroke-width="1.4"
          stroke-dasharray="2.3 2.1"
        />
        <circle class="accent" cx="12" cy="12" r="6.2" fill="currentColor" />
      </svg>
      Standin
    </Link>
  )
}

type PlaceName = View & IconName

/** The views by group. The first group has no heading; the others are for the developer who runs this Standin. */
const groups: Readonly<Record<string, Readonly<Partial<Record<PlaceName, string>>>>> = {
  '': { connect: 'Connect', keys: 'API keys', playground: 'Playground' },
  Platform: {
    requests: 'Requests',
    replies: 'Replies',
    recordings: 'Recordings',
    controls: 'Controls',
  },
  People: { users: 'Users', outbox: 'Outbox' },
}

const namesOf = (group: (typeof groups)[string]) => Object.entries(group) as [PlaceName, string][]

const places = Object.values(groups).flatMap(namesOf)

/** Links to the views: beside them, or behind a button on narrow screens. */
function Navigation({ view }: Pick<Props, 'view'>) {
  const id = useId()
  // Only matters on narrow screens; on wide ones the links are always visible.
  const [isOpen, setOpen] = useState(false)
  useNavigation(() => setOpen(false))
  const unseen = useUnseenMessages()
  const [place, name = 'Menu'] = places.find(([place]) => place === view) ?? []
  const fold = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !isOpen) return
    event.preventDefault()
    setOpen(false)
    document.getElementById(`${id}-button`)?.focus()
  }
  return (
    <nav class="places" aria-label="Dashboard" onKeyDown={fold}>
      <button
        type="button"
        id={`${id}-button`}
        class="places-button item"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {place && <Icon name={place} />}
        <span class="grow">
          <span class="unseen">Menu, now at </span>
          {name}
        </span>
        <Icon name="chevron" />
      </button>
      <div id={id} class={isOpen ? 'places-all places-open' : 'places-all'}>
        {Object.keys(groups).map(name => (
          <PlaceGroup key={name} name={name} view={view} unseen={unseen} />
        ))}
      </div>
    </nav>
  )
}

interface PlaceGroupProps extends Pick<Props, 'view'> {
  readonly name: string
  /** How many messages in the outbox are new. */
  readonly unseen: number
}

function PlaceGroup({ name, view, unseen }: PlaceGroupProps) {
  const id = name === '' ? undefined : `places-${name}`
  return (
    <div>
      {id && (
        <p class="places-head quiet small" id={id}>
          {name}
        </p>
      )}
      <ul aria-labelledby={id}>
        {namesOf(groups[name] ?? {}).map(([place, name]) => (
          <li key={place}>
            <Link to={routes[place]} class="place item" current={place === view}>
              <Icon name={place} />
              {name}
              {place === 'outbox' && unseen > 0 && (
                <span class="place-count small">
                  {unseen}
                  <span class="unseen"> new</span>
                </span>
              )}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}

const MENU = 'account-menu'

/** The signed-in user and a sign-out button; a sign-in link for others. */
function AccountMenu() {
  const session = useSession()
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
  const { failure, run } = useAction()
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
