/** The frame around every view: the brand, the views, the strip with what decides the next answer, and the account. */
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { routes, type View } from '../routes.js'
import { NOT_RUNNING } from './api.js'
import { useConfig } from './config.jsx'
import { useLive } from './live/live.js'
import { Link } from './routing.jsx'
import { signOut, useSession } from './session/session.js'
import { FileProblems, Strip } from './strip/strip.jsx'
import { useUnseenMessages } from './unseen.js'
import { useAction } from './widgets/action.js'
import { Button, Popover } from './widgets/button.jsx'
import { useIsAnswering } from './widgets/resource.js'
import { FailureNote, Notice } from './widgets/states.jsx'
import { countProblems } from './widgets/view.jsx'

interface Props {
  /** Undefined for an address without a view. */
  readonly view: View | undefined
  readonly children: ComponentChildren
}

export function Frame({ view, children }: Props) {
  const isAnswering = useIsAnswering()
  return (
    <div class="frame">
      <a class="skip unseen" href="#content">
        Skip to the content
      </a>
      <header class="bar">
        <Brand />
        <Places view={view} />
        <Strip />
        <Account />
        <FileProblems />
      </header>
      <main id="content" tabIndex={-1}>
        {!isAnswering && <Notice tone="care">{NOT_RUNNING}</Notice>}
        {children}
      </main>
    </div>
  )
}

const Brand = () => (
  <Link to={routes.activity} class="brand">
    <svg class="mark" viewBox="0 0 20 20" aria-hidden="true">
      <circle class="mark-ring quiet" cx="8" cy="8" r="6.2" />
      <circle class="accent" cx="12" cy="12" r="6.2" fill="currentColor" />
    </svg>
    Standin
  </Link>
)

const names: Readonly<Record<View, string>> = {
  activity: 'Activity',
  answers: 'Answers',
  people: 'People',
  connect: 'Connect',
}

/** Links to the views, with the problems and the messages that nobody has looked at yet. */
function Places({ view }: Pick<Props, 'view'>) {
  const problems = useLive(({ problems }) => problems)
  useEffect(() => countProblems(problems), [problems])
  const counts: Partial<Record<View, readonly [count: number, what: string, tone: string]>> = {
    activity: [problems, problems === 1 ? 'problem' : 'problems', 'care'],
    people: [useUnseenMessages(), 'new', 'good'],
  }
  return (
    <nav class="places" aria-label="Dashboard">
      <ul>
        {(Object.keys(names) as View[]).map(place => {
          const [count = 0, what, tone] = counts[place] ?? []
          return (
            <li key={place}>
              <Link to={routes[place]} class="place" current={place === view}>
                {names[place]}
                {count > 0 && (
                  <span class={`place-count tone-${tone}`}>
                    {count}
                    <span class="unseen"> {what}</span>
                  </span>
                )}
              </Link>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

/** The signed-in user and a sign-out button; for others, the version of Standin. */
function Account() {
  const session = useSession()
  const { version } = useConfig()
  const { failure, run } = useAction()
  if (session.kind !== 'user') return <p class="account quiet small">{version}</p>
  return (
    <div class="account">
      <Popover
        class="strip-button"
        name={`Account: ${session.email}`}
        label={<span class="account-name cut">{session.email}</span>}
      >
        <p>
          Signed in as <strong>{session.email}</strong>
        </p>
        <FailureNote failure={failure} />
        <Button onClick={() => run(signOut)}>Sign out</Button>
      </Popover>
    </div>
  )
}
