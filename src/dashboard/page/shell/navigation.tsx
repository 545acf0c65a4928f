/** The ways to the views. */
import { routes, type View } from '../../routes.js'
import { Icon, type IconName } from '../widgets/icon.jsx'
import { Link } from '../widgets/link.jsx'

interface Place {
  readonly view: View & IconName
  readonly name: string
}

const platform: readonly Place[] = [
  { view: 'connect', name: 'Connect' },
  { view: 'keys', name: 'API keys' },
  { view: 'playground', name: 'Playground' },
]

const people: readonly Place[] = [
  { view: 'controls', name: 'Controls' },
  { view: 'recordings', name: 'Recordings' },
  { view: 'replies', name: 'Replies' },
  { view: 'users', name: 'Users' },
  { view: 'sessions', name: 'Sessions' },
  { view: 'outbox', name: 'Outbox' },
  { view: 'refusals', name: 'Refused' },
]

export function Navigation({ view }: { readonly view: View }) {
  const item = ({ view: target, name }: Place) => (
    <li key={target}>
      <Link to={routes[target]} class="place" current={target === view}>
        <Icon name={target} />
        {name}
      </Link>
    </li>
  )
  return (
    <nav class="places" aria-label="Dashboard">
      <ul>{platform.map(item)}</ul>
      <p class="places-head" id="for-developers">
        For developers
      </p>
      <ul aria-labelledby="for-developers">{people.map(item)}</ul>
    </nav>
  )
}
