/** What went wrong with a listing, and a way to try again. */
import type { Failure } from '../failure.js'
import { Notice } from './notice.jsx'

interface Props {
  readonly failure: Failure
  readonly retry: () => void
}

export function FailureNote({ failure, retry }: Props) {
  return (
    <Notice tone="danger">
      <p>{failure.message}</p>
      <button type="button" class="button button-small" onClick={retry}>
        Try again
      </button>
    </Notice>
  )
}
