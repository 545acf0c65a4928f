/** A listing in each of its states: on its way, there, not up to date, failed. */
import type { ComponentChildren } from 'preact'
import type { Loaded } from '../listing.js'
import { FailureNote } from './failure-note.jsx'
import { Waiting } from './waiting.jsx'

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
