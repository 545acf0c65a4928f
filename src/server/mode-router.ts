/** The mode by call: GET says where answers come from, PUT changes it from the next request on. */
import { Router } from 'express'
import { modeSwitch } from '../config/schema.js'
import { modeNotPossible } from '../core/errors.js'
import type { Mode } from '../core/exchange.js'
import { only } from '../core/only.js'
import { ProblemsError } from '../core/problem.js'
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
      const { mode, modes = {} } = await jsonIn(request, modeSwitch)
      try {
        change(mode, modes)
      } catch (error) {
        throw error instanceof ProblemsError ? modeNotPossible(error.problems.map(({ sentence }) => sentence)) : error
      }
      response.json(current())
    })
    .all(only('GET', 'HEAD', 'PUT'))
  return router
}
