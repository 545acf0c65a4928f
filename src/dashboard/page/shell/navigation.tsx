/** The ways to the views: always in sight beside them, or behind a button where there is no room. */
import { useEffect, useId, useState } from 'preact/hooks'
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

const places = [...app, ...groups.flatMap(({ places }) => places)]

export function Navigation({ view }: { readonly view: View }) {
  const id = useId()
  // For where there is no room beside the views; with room the ways are always there.
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const close = () => setOpen(false)
    addEventListener('popstate', close)
    return () => removeEventListener('popstate', close)
  }, [])
  const here = places.find(place => place.view === view)
  const item = ({ view: target, name }: Place) => (
    <li key={target}>
      <Link to={routes[target]} class="place" current={target === view}>
        <Icon name={target} />
        {name}
      </Link>
    </li>
  )
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
        class="places-button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {here && <Icon name={here.view} />}
        <span>
          <span class="unseen">Menu, now at </span>
          {here?.name ?? 'Menu'}
        </span>
        <Icon name="chevron" />
      </button>
      <div id={id} class={isOpen ? 'places-all places-open' : 'places-all'}>
        <ul>{app.map(item)}</ul>
        {groups.map(({ name, places }) => (
          <div key={name}>
            <p class="places-head" id={`places-${name}`}>
              {name}
            </p>
            <ul aria-labelledby={`places-${name}`}>{places.map(item)}</ul>
          </div>
        ))}
      </div>
    </nav>
  )
}
