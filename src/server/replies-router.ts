/** Rules by call: GET lists those in force, POST adds some that stand before all others, DELETE removes what was added. */
import { type Request, type Response, Router } from 'express'
import { noSuchRule } from '../core/errors.js'
import { only } from '../core/only.js'
import { resetCall } from '../core/scope.js'
import { type ListedRule, type RuleInput, ruleByCall, sentRules } from '../replies/index.js'
import type { Paths } from './control/part.js'
import { listOf, object, text } from './control/shapes.js'
import { jsonIn } from './json-in.js'
import { asRefusal } from './refusals.js'
import { scopeIn } from './scope-in.js'

/** The rules of a running platform. */
export interface RulesByCall {
  list(scope?: string): Promise<readonly ListedRule[]>
  /** Adds a rule, or several that stand in their order. Rejects with a ProblemsError that names what is wrong. */
  addSent(sent: RuleInput | readonly RuleInput[], scope?: string): Promise<readonly { readonly id: string }[]>
  /** Gives back how many there were. */
  remove(which: { readonly id?: string; readonly scope?: string | undefined }): Promise<number>
}

/** Rules may say long texts. */
const LIMIT_BYTES = 10_485_760

export function createRepliesRouter(rules: RulesByCall): Router {
  const router = Router()

  async function add(request: Request, response: Response): Promise<void> {
    const sent = await jsonIn(request, ruleByCall, LIMIT_BYTES)
    const { scope, ...rule } = Array.isArray(sent) ? {} : sent
    const written = (Array.isArray(sent) ? sent : rule) as RuleInput | readonly RuleInput[]
    const added = await rules.addSent(written, scope ?? scopeIn(request)).catch(asRefusal)
    response.status(201).json({ data: added })
  }

  router
    .route('/')
    .get(async (request, response) => void response.json({ data: await rules.list(scopeIn(request)) }))
    .post(add)
    .delete(async (request, response) => {
      await rules.remove({ scope: scopeIn(request) })
      response.status(204).end()
    })
    .all(only('GET', 'HEAD', 'POST', 'DELETE'))
  router
    .route('/:id')
    .delete(async (request, response) => {
      const { id } = request.params
      if ((await rules.remove({ id, scope: scopeIn(request) })) === 0) throw noSuchRule(id)
      response.status(204).end()
    })
    .all(only('DELETE'))
  return router
}

export const repliesPaths: Paths = {
  '/replies': {
    get: {
      id: 'listRules',
      does: 'The rules in force, in the order in which they are tried.',
      query: resetCall,
      answers: { 200: { what: 'The rules.', schema: object({ data: listOf({ type: 'object' }) }) } },
    },
    post: {
      id: 'addRules',
      does: 'Adds a rule, or several, that stand before all others.',
      query: resetCall,
      body: sentRules,
      answers: { 201: { what: 'Their ids, in their order.', schema: object({ data: listOf(object({ id: text })) }) } },
    },
    delete: {
      id: 'removeRules',
      does: 'Removes the rules that were added, or those of one scope.',
      query: resetCall,
      answers: { 204: { what: 'They are gone.' } },
    },
  },
  '/replies/{id}': {
    delete: {
      id: 'removeRule',
      does: 'Removes one rule that was added.',
      query: resetCall,
      answers: { 204: { what: 'It is gone.' } },
    },
  },
}
