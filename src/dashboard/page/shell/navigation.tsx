/** The ways to the views. */
import { Fragment } from 'preact'
import { routes, type View } from '../../routes.js'
import { Icon, type IconName } from '../widgets/icon.jsx'
import { Link } from '../widgets/link.jsx'

interface Place {
  readonly view: View & IconName
  readonly name: string
}

const app: readonly Place[] = [
  { view: 'connect', name: 'Connect' },
  { view: 'keys', name: 'API keys' },
  { view: 'playground', name: 'Playground' },
]

/** For whoever runs this Standin. */
const groups: readonly { readonly name: string; readonly places: readonly Place[] }[] = [
  {
    name: 'Platform',
    places: [
      { view: 'requests', name: 'Requests' },
      { view: 'replies', name: 'Replies' },
      { view: 'recordings', name: 'Recordings' },
      { view: 'controls', name: 'Controls' },
    ],
  },
  {
    name: 'People',
    places: [
      { view: 'users', name: 'Users' },
      { view: 'sessions', name: 'Sessions' },
      { view: 'outbox', name: 'Outbox' },
      { view: 'refusals', name: 'Refused' },
    ],
  },
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
      <ul>{app.map(item)}</ul>
      {groups.map(({ name, places }) => (
        <Fragment key={name}>
          <p class="places-head" id={`places-${name}`}>
            {name}
          </p>
          <ul aria-labelledby={`places-${name}`}>{places.map(item)}</ul>
        </Fragment>
      ))}
    </nav>
  )
}
