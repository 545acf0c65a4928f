/** The former form of `useResource`, for views that are not converted yet. */
import type { Failure } from './failure.js'
import { type Resource, useResource } from './widgets/resource.js'

export type Listing<Value> =
  | { readonly kind: 'loading' }
  /** With a failure if the last reload failed. */
  | { readonly kind: 'ready'; readonly value: Value; readonly failure?: Failure }
  | { readonly kind: 'failed'; readonly failure: Failure }

export interface Loaded<Value> extends Resource<Value> {
  readonly listing: Listing<Value>
}

export function useListing<Value>(load: (signal: AbortSignal) => Promise<Value>, everyMs?: number): Loaded<Value> {
  const resource = useResource(load, [load], everyMs)
  return { ...resource, listing: listingOf(resource) }
}

function listingOf<Value>({ value, failure }: Resource<Value>): Listing<Value> {
  if (value !== undefined) return { kind: 'ready', value, ...(failure && { failure }) }
  return failure ? { kind: 'failed', failure } : { kind: 'loading' }
}
