/** The control API under /__standin: whether the platform is ready, its mode, rules, faults and clock, its state, the outbox, and what became of recordings. */
import { type NextFunction, type Request, type Response, Router } from 'express'
import { requireDeveloper } from '../auth/developer.js'
import type { Identify } from '../auth/identify.js'
import type { People } from '../auth/people.js'
import { only } from '../core/only.js'
import type { Miss } from '../recordings/index.js'
import { type ClockParts, createClockRouter } from './clock-router.js'
import { createFaultRouter, type FaultsByCall } from './fault-router.js'
import { createModeRouter, type ModeSwitch } from './mode-router.js'
import { createRepliesRouter, type RulesByCall } from './replies-router.js'
import { createResetRouter, type Reset } from './reset-router.js'
import { createStateRouter, type StateParts } from './state-router.js'
import { createTokensRouter, type TokenParts } from './tokens-router.js'

/** What may be known about a running platform by whoever reaches it. Keys are not among it. */
export interface Readiness {
  readonly mode: string
  readonly url: string
  readonly version: string
}

export interface ControlParts extends ClockParts, StateParts, TokenParts {
  readonly readiness: () => Readiness
  readonly identify: Identify
  readonly people: Pick<People, 'messages' | 'clearMessages'>
  readonly faults: FaultsByCall
  readonly rules: RulesByCall
  readonly reset: Reset
  readonly modes: ModeSwitch
  /** The last requests that no recording answered. */
  readonly misses: () => readonly Miss[]
  /** What came of recordings so far; nothing where no mode has to do with them. */
  readonly receipt: () => object | undefined
}

export function createControl({
  readiness,
  identify,
  people,
  faults,
  rules,
  reset,
  modes,
  misses,
  receipt,
  ...more
}: ControlParts): Router {
  const router = Router()
  const onlyDeveloper = async (request: Request, _response: Response, next: NextFunction) => {
    const { socket, headers } = request
    await requireDeveloper({ remoteAddress: socket.remoteAddress, authorization: headers.authorization }, identify)
    next()
  }
  router
    .route('/ready')
    .get((_request, response) => void response.json({ ready: true, ...readiness() }))
    .all(only('GET', 'HEAD'))
  router
    .route('/outbox')
    // A message holds what signs somebody in.
    .all(onlyDeveloper)
    .get(async (_request, response: Response) => void response.json({ data: await people.messages() }))
    .delete(async (_request, response) => {
      await people.clearMessages()
      response.status(204).end()
    })
    .all(only('GET', 'HEAD', 'DELETE'))
  router
    .route('/misses')
    // It says what was asked.
    .all(onlyDeveloper)
    .get((_request, response) => void response.json({ data: misses() }))
    .all(only('GET', 'HEAD'))
  router
    .route('/receipt')
    .all(onlyDeveloper)
    .get((_request, response) => void response.json(receipt() ?? null))
    .all(only('GET', 'HEAD'))
  router.use('/mode', onlyDeveloper, createModeRouter(modes))
  router.use('/faults', onlyDeveloper, createFaultRouter(faults))
  router.use('/replies', onlyDeveloper, createRepliesRouter(rules))
  router.use('/reset', onlyDeveloper, createResetRouter(reset))
  router.use('/clock', onlyDeveloper, createClockRouter(more))
  router.use('/state', onlyDeveloper, createStateRouter(more))
  router.use('/tokens', onlyDeveloper, createTokensRouter(more))
  return router
}
