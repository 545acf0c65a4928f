/** The requests in flight: how long they have taken, and how far their answers are. */
import type { JournalFlight } from '../../../journal/operations.js'
import { useTicks } from '../widgets/moment.jsx'
import { callerName, count, counted, duration } from '../wording.js'
import { kindOf, subjectOf } from './words.js'

const EVERY_MS = 250

export function Flights({ of: flights }: { readonly of: readonly JournalFlight[] }) {
  useTicks(flights.length > 0 ? EVERY_MS : undefined)
  if (flights.length === 0) return null
  return (
    <ol class="requests" aria-label="Requests in flight">
      {flights.map(flight => (
        <li key={flight.id} class="request flight">
          <div class="request-line">
            <span class="spinner" aria-hidden="true" />
            <span class="quiet">{kindOf(flight)}</span>
            <bdi class="request-what cut">{subjectOf(flight)}</bdi>
            <span class="request-why cut accent">{progressOf(flight)}</span>
            <span class="request-facts quiet">
              <bdi>{callerName(flight)}</bdi>
              <span class="request-duration">{duration(Math.max(0, Date.now() - Date.parse(flight.at)))}</span>
            </span>
          </div>
        </li>
      ))}
    </ol>
  )
}

/** `no answer yet`, `no token yet`, `12 tokens`, `3 pieces`. */
function progressOf(flight: JournalFlight): string {
  const { status, pieces, tokens } = flight
  if (status === null) return 'no answer yet'
  if (kindOf(flight) !== 'chat') return counted(pieces, 'piece')
  return tokens === 0 ? 'no token yet' : `${count(tokens)} ${tokens === 1 ? 'token' : 'tokens'}`
}
