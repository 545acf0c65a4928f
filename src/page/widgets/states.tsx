/** Notices, and the states of a list: loading, empty, failed or loaded. */
import type { ComponentChildren } from 'preact'
import type { Failure } from '../failure.js'
import type { Loaded } from '../listing.js'
import { Icon, type IconName } from './icon.jsx'

interface Props<Value> {
  readonly of: Loaded<Value>
  readonly children: (value: Value) => ComponentChildren
}

export function Shown<Value>({ of: { listing, reload }, children }: Props<Value>) {
  if (listing.kind === 'loading') return <Waiting />
  if (listing.kind === 'failed') return <FailureNote failure={listing.failure} retry={reload} />
  return (
    <>
      {listing.failure && <FailureNote failure={listing.failure} retry={reload} />}
      {children(listing.value)}
    </>
  )
}

interface FailureNoteProps {
  readonly failure: Failure
  readonly retry: () => void
}

/** Why a list could not be loaded, and a button to try again. */
export function FailureNote({ failure, retry }: FailureNoteProps) {
  return (
    <Notice tone="danger">
      <p>{failure.message}</p>
      <button type="button" class="button button-small" onClick={retry}>
        Try again
      </button>
    </Notice>
  )
}

/** A placeholder during loading. It appears only if loading takes a while. */
export function Waiting() {
  return (
    <div class="waiting" role="status">
      <span class="unseen">Loading…</span>
    </div>
  )
}

interface EmptyProps {
  readonly title: string
  readonly children: ComponentChildren
}

/** An empty list: why it is empty, and what to do about it. */
export function Empty({ title, children }: EmptyProps) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  )
}

type Tone = 'danger' | 'care' | 'good'

const icons: Record<Tone, IconName> = { danger: 'alert', care: 'alert', good: 'check' }

interface NoticeProps {
  readonly tone: Tone
  readonly children: ComponentChildren
}

/** A highlighted message: an error, a warning or a success. */
export function Notice({ tone, children }: NoticeProps) {
  return (
    <div class={`notice notice-${tone}`} role={tone === 'good' ? undefined : 'alert'}>
      <Icon name={icons[tone]} />
      <div>{children}</div>
    </div>
  )
}
