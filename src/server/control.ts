/** The control API under /__standin: its parts in one table, and who may ask them. */
import { type NextFunction, type Request, type Response, Router } from 'express'
import { type ControlKeys, requireControl, showsToken } from '../auth/developer.js'
import type { OpenSessions } from '../auth/open-sessions.js'
import type { People } from '../auth/people.js'
import { notFound } from '../core/errors.js'
import { isLoopback } from '../core/loopback.js'
import type { Exposition } from '../metrics/index.js'
import { type ClockParts, clockPaths, createClockRouter } from './clock-router.js'
import { createDocumentPart, type Documented } from './control/document.js'
import { createJournalPart, type JournalParts } from './control/journal.js'
import { createMetricsPart } from './control/metrics.js'
import { createOutboxPart } from './control/outbox.js'
import type { ControlPart } from './control/part.js'
import { createReadyPart, type Readiness } from './control/ready.js'
import { createRecordingsPart, type RecordingsParts } from './control/recordings.js'
import { createSessionsPart } from './control/sessions.js'
import { createLimitsPart, createPacePart, createRandomFaultsPart, type Steering } from './control/settings.js'
import { createMissesPart, createReceiptPart, type Taped } from './control/taped.js'
import { createViolationsPart, type Judged } from './control/violations.js'
import { createDraftsPart, type DraftsByCall } from './drafts-router.js'
import { createFaultRouter, type FaultsByCall, faultPaths } from './fault-router.js'
import { refuseForeign } from './guard.js'
import { createModeRouter, type ModeSwitch, modePaths } from './mode-router.js'
import { createRepliesRouter, type RulesByCall, repliesPaths } from './replies-router.js'
import { createResetRouter, type Reset, resetPaths } from './reset-router.js'
import { createStateRouter, type StateParts, statePaths } from './state-router.js'
import { createTokensRouter, type TokenParts, tokenPaths } from './tokens-router.js'

export interface ControlParts
  extends ControlKeys,
    Taped,
    Documented,
    Judged,
    ClockParts,
    StateParts,
    TokenParts,
    Omit<JournalParts, 'url'>,
    Omit<RecordingsParts, 'journal'> {
  /** The address that was asked to be listened on; where others can reach it, they have to show a credential. */
  readonly host: string
  readonly readiness: () => Readiness
  readonly people: Pick<People, 'messages' | 'clearMessages'>
  readonly faults: FaultsByCall
  readonly rules: RulesByCall
  readonly drafts: DraftsByCall
  readonly sessions: OpenSessions
  readonly reset: Reset
  readonly modes: ModeSwitch
  readonly metrics: () => Promise<Exposition>
  readonly steering: Steering
}

/** Everything that is answered, each with what the document says of it. */
export function controlTable(parts: ControlParts): readonly ControlPart[] {
  const { readiness, people, faults, rules, reset, modes, steering, journal, stopping, metrics } = parts
  return [
    createReadyPart(readiness),
    createJournalPart({ journal, stopping, url: () => readiness().url }),
    createMissesPart(parts),
    createReceiptPart(parts),
    createViolationsPart(parts),
    createOutboxPart(people),
    createMetricsPart(metrics),
    { at: '/mode', router: createModeRouter(modes), paths: modePaths },
    createRandomFaultsPart(steering),
    { at: '/faults', router: createFaultRouter(faults), paths: faultPaths },
    createPacePart(steering),
    createLimitsPart(steering),
    createRecordingsPart(parts),
    createSessionsPart(parts.sessions),
    createDraftsPart(parts),
    { at: '/replies', router: createRepliesRouter(rules), paths: repliesPaths },
    { at: '/reset', router: createResetRouter(reset), paths: resetPaths },
    { at: '/clock', router: createClockRouter(parts), paths: clockPaths },
    { at: '/state', router: createStateRouter(parts), paths: statePaths },
    { at: '/tokens', router: createTokensRouter(parts), paths: tokenPaths },
    createDocumentPart(parts),
  ]
}

/** What the document says of them, for whoever has nobody to ask them: routers that nobody asks need next to nothing. */
export const describedControl = (): readonly Omit<ControlPart, 'router'>[] =>
  controlTable({ stopping: new AbortController().signal, modes: {} } as ControlParts)

export function createControl(parts: ControlParts): Router {
  const { host, token } = parts
  const isClosed = !isLoopback(host)
  const table = controlTable(parts)
  const router = Router()
  router.use(protect)
  router.use(({ headers }, _response, next) => {
    refuseForeign(headers, host, showsToken(headers.authorization, token()))
    next()
  })
  for (const { at, router: open } of table.filter(({ isOpen }) => isOpen)) router.use(at, open)
  router.use(async ({ headers }, _response, next) => {
    if (isClosed) await requireControl(headers.authorization, parts)
    next()
  })
  for (const { at, router: own } of table.filter(({ isOpen }) => !isOpen)) router.use(at, own)
  router.use(() => {
    throw notFound()
  })
  router.use(unreadablePath)
  return router
}

/** Nothing is kept on the way or told to other pages. */
function protect(_request: Request, response: Response, next: NextFunction): void {
  response.set({
    'cache-control': 'no-store',
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  })
  next()
}

/** An id that cannot be decoded is the id of nothing. Four parameters are how express knows an error handler. */
function unreadablePath(error: unknown, _request: Request, _response: Response, _next: NextFunction): never {
  throw error instanceof URIError ? notFound() : error
}
