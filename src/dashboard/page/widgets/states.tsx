/** Notices, announcements, and the states of what is loaded: loading, empty, failed or there. */
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { routes } from '../../routes.js'
import type { Failure } from '../api.js'
import { Link } from '../routing.jsx'
import { Button, Icon } from './button.jsx'
import type { Resource } from './resource.js'
import { announced } from './shared.js'
import { View } from './view.jsx'

/** How long an announcement stays. It is removed so that screen readers do not find it again later. */
const STAYS_MS = 5000

/** Where changes are announced to screen readers. There is one on the page. */
export function Announcer() {
  const text = announced.use()
  useEffect(() => {
    const timer = setTimeout(() => announced.set(''), STAYS_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <div role="status" class="unseen">
      {text}
    </div>
  )
}

interface NoticeProps {
  readonly tone: 'danger' | 'care'
  readonly children: ComponentChildren
}

/** A highlighted message: an error or a warning. */
export const Notice = ({ tone, children }: NoticeProps) => (
  <div class={`notice tone-${tone}`} role="alert">
    <Icon name="alert" />
    <div>{children}</div>
  </div>
)

interface FailureNoteProps {
  readonly failure: Failure | undefined
  /** Shows a button that tries again. */
  readonly retry?: () => void
}

export function FailureNote({ failure, retry }: FailureNoteProps) {
  if (!failure) return null
  return (
    <Notice tone="danger">
      <p>{failure.message}</p>
      {retry && (
        <Button small onClick={retry}>
          Try again
        </Button>
      )}
    </Notice>
  )
}

/** A placeholder during loading. It appears only if loading takes a while. */
export const Waiting = () => (
  <div class="waiting" role="status">
    <span class="unseen">Loading…</span>
  </div>
)

interface EmptyProps {
  readonly title: string
  readonly children: ComponentChildren
}

/** An empty list: why it is empty, and what to do about it. */
export const Empty = ({ title, children }: EmptyProps) => (
  <div class="empty dashed quiet">
    <p>
      <strong class="ink">{title}</strong>
    </p>
    <p>{children}</p>
  </div>
)

/** Shown at an address of the dashboard that has no view. */
export const NotFound = () => (
  <View title="Page not found">
    <p>
      There is no page at <code>{location.pathname}</code>. <Link to={routes.connect}>Go to Connect</Link>
    </p>
  </View>
)

export interface ShownProps<Value> {
  readonly of: Resource<Value>
  readonly children: (value: Value) => ComponentChildren
}

/** Shows what was loaded, or why loading failed. If Standin is not running, the frame says so for all views. */
export function Shown<Value>({ of: { value, failure, reload }, children }: ShownProps<Value>) {
  const refusal = failure?.status === 0 ? undefined : failure
  if (value === undefined && !refusal) return <Waiting />
  return (
    <>
      <FailureNote failure={refusal} retry={reload} />
      {value !== undefined && children(value)}
    </>
  )
}
