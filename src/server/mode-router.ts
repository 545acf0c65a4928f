/** The mode by call: GET says where answers come from, PUT changes it from the next request on. */
import { Router } from 'express'
import { modeSwitch } from '../config/schema.js'
import { modeNotPossible } from '../core/errors.js'
import { type Mode, modes } from '../core/exchange.js'
import { only } from '../core/only.js'
import { ProblemsError } from '../core/problem.js'
import type { Paths } from './control/part.js'
import { object, oneOf } from './control/shapes.js'
import { jsonIn } from './json-in.js'
import type { ModesByEndpoint } from './modes.js'

export interface ModeSwitch {
  current(): { readonly mode: Mode; readonly modes: ModesByEndpoint }
  /** Throws a ProblemsError for a mode that cannot work. */
  change(mode: Mode, modes: ModesByEndpoint): void
}

export function createModeRouter({ current, change }: ModeSwitch): Router {
  const router = Router()
  router
    .route('/')
    .get((_request, response) => void response.json(current()))
    .put(async (request, response) => {
      const { mode, modes: byEndpoint = {} } = await jsonIn(request, modeSwitch)
      try {
        change(mode, byEndpoint)
      } catch (error) {
        throw error instanceof ProblemsError ? modeNotPossible(error.problems.map(({ sentence }) => sentence)) : error
      }
      response.json(current())
    })
    .all(only('GET', 'HEAD', 'PUT'))
  return router
}

const said = {
  what: 'The mode, and the modes of single endpoints.',
  schema: object({ mode: oneOf(modes), modes: { type: 'object', additionalProperties: oneOf(modes) } }),
}

export const modePaths: Paths = {
  '/mode': {
    get: { id: 'getMode', does: 'Where answers come from.', answers: { 200: said } },
    put: {
      id: 'setMode',
      does: 'Changes where answers come from, from the next request on.',
      body: modeSwitch,
      answers: { 200: said },
      errors: { 409: 'The configuration lacks what the mode needs.' },
    },
  },
}
