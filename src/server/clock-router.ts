/** The clock by call: GET says how it stands, PUT turns it, for tests that want something to expire. */
import { Router } from 'express'
import { type Clock, isOnClock } from '../core/clock.js'
import { type ClockRequest, clockRequest } from '../core/clock-request.js'
import { invalidRequest } from '../core/errors.js'
import { only } from '../core/only.js'
import type { Paths } from './control/part.js'
import { number, object, text, yesOrNo } from './control/shapes.js'
import { jsonIn } from './json-in.js'

export interface ClockParts {
  readonly clock: Clock
}

export function createClockRouter({ clock }: ClockParts): Router {
  const router = Router()
  router
    .route('/')
    .get((_request, response) => void response.json(clock.state()))
    .put(async (request, response) => {
      turn(clock, await jsonIn(request, clockRequest))
      response.json(clock.state())
    })
    .all(only('GET', 'HEAD', 'PUT'))
  return router
}

/** All of what is asked, or nothing of it. */
function turn(clock: Clock, { now, advanceMs, frozen, reset }: ClockRequest): void {
  if (advanceMs !== undefined && !isOnClock((now ?? clock.now()) + advanceMs)) {
    throw invalidRequest(`advanceMs must lead to a moment from 1970 to 9000, and ${advanceMs} does not.`)
  }
  // Stopped before it is set, so that it shows what it was set to and no millisecond more.
  if (frozen === true) clock.freeze()
  if (now !== undefined) clock.set(now)
  if (advanceMs !== undefined) clock.advance(advanceMs)
  if (frozen === false) clock.run()
  if (reset) clock.reset()
}

const shown = {
  what: 'What it shows, whether it stands still, and how far it is ahead of the real time.',
  schema: object({ now: text, frozen: yesOrNo, offsetMs: number }),
}

export const clockPaths: Paths = {
  '/clock': {
    get: { id: 'getClock', does: 'What everything that expires goes by.', answers: { 200: shown } },
    put: { id: 'setClock', does: 'Turns the clock.', body: clockRequest, answers: { 200: shown } },
  },
}
