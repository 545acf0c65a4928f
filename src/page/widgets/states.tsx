/** Notices, and what stands in the place of a listing: it is loading, it is empty, it failed, or here it is. */
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

/** What went wrong with a listing, and a way to try again. */
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

/** Holds the place of what is on its way; it shows itself only when that takes a while. */
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

/** What a listing says when there is nothing in it yet: why, and what to do about it. */
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

/** A sentence that stands out: something went wrong, needs care, or went well. */
export function Notice({ tone, children }: NoticeProps) {
  return (
    <div class={`notice notice-${tone}`} role={tone === 'good' ? undefined : 'alert'}>
      <Icon name={icons[tone]} />
      <div>{children}</div>
    </div>
  )
}
