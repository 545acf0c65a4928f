/** The mode by call: GET says where answers come from, PUT changes it from the next request on, DELETE goes back to the configuration. */
import { Router } from 'express'
import { ProblemsError } from '../check/problem.js'
import { modeSwitch as modeChange } from '../config/schema.js'
import { modeNotPossible } from '../core/errors.js'
import { type Mode, modes } from '../core/exchange.js'
import { only } from '../core/only.js'
import type { Paths } from './control/part.js'
import { listOf, object, oneOf, text } from './control/shapes.js'
import { jsonIn } from './json-in.js'
import type { ModesByEndpoint } from './modes.js'

export interface ModeSwitch {
  current(): { readonly mode: Mode; readonly modes: ModesByEndpoint }
  /** Throws a ProblemsError for a mode that cannot work. */
  change(mode: Mode, modes: ModesByEndpoint): void
  /** What the configuration says. */
  configured(): { readonly mode: Mode; readonly modes: ModesByEndpoint }
  /** Why a mode cannot work for all endpoints, in sentences; nothing when it can. */
  impossible(mode: Mode): readonly string[] | undefined
}

export function createModeRouter(modeSwitch: ModeSwitch): Router {
  const router = Router()

  function change(mode: Mode, modes: ModesByEndpoint): void {
    try {
      modeSwitch.change(mode, modes)
    } catch (error) {
      throw error instanceof ProblemsError ? modeNotPossible(error.problems.map(({ sentence }) => sentence)) : error
    }
  }

  router
    .route('/')
    .get((_request, response) => void response.json(modeSwitch.current()))
    .put(async (request, response) => {
      const { mode, modes: byEndpoint = {} } = await jsonIn(request, modeChange)
      change(mode, byEndpoint)
      response.json(modeSwitch.current())
    })
    .delete((_request, response) => {
      const { mode, modes } = modeSwitch.configured()
      change(mode, modes)
      response.json(modeSwitch.current())
    })
    .all(only('GET', 'HEAD', 'PUT', 'DELETE'))
  router
    .route('/choices')
    .get((_request, response) => {
      const { mode, modes: byEndpoint } = modeSwitch.configured()
      const data = modes.map(mode => {
        const sentences = modeSwitch.impossible(mode)
        return sentences ? { mode, reason: sentences.join(' ') } : { mode }
      })
      response.json({ data, configured: { mode, modes: byEndpoint } })
    })
    .all(only('GET', 'HEAD'))
  return router
}

const modesSchema = object({ mode: oneOf(modes), modes: { type: 'object', additionalProperties: oneOf(modes) } })

const said = {
  what: 'The mode, and the modes of single endpoints.',
  schema: modesSchema,
}

export const modePaths: Paths = {
  '/mode': {
    get: { id: 'getMode', does: 'Where answers come from.', answers: { 200: said } },
    put: {
      id: 'setMode',
      does: 'Changes where answers come from, from the next request on.',
      body: modeChange,
      answers: { 200: said },
      errors: { 409: 'The configuration lacks what the mode needs.' },
    },
    delete: { id: 'restoreMode', does: 'Goes back to the mode of the configuration.', answers: { 200: said } },
  },
  '/mode/choices': {
    get: {
      id: 'listModes',
      does: 'The modes that there are, and what the configuration says.',
      answers: {
        200: {
          what: 'Each mode, with the reason where it cannot work here.',
          schema: object({ data: listOf(object({ mode: oneOf(modes), 'reason?': text })), configured: modesSchema }),
        },
      },
    },
  },
}
