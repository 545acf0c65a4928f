/** Rules by call: GET lists those in force, POST adds some that stand before all others, DELETE removes what was added. */
import { type Request, type Response, Router } from 'express'
import { blockYaml } from '../check/yaml.js'
import { noSuchRule } from '../core/errors.js'
import { MOST_VALUES_OF_RULES, parseExact, stringifyExact } from '../core/json.js'
import { type ListingQuery, scopedListingQuery, searchFor } from '../core/listing-request.js'
import { only } from '../core/only.js'
import { resetCall } from '../core/scope.js'
import { type ListedRule, type RuleInput, ruleByCall, sentRules } from '../replies/index.js'
import type { Paths } from './control/part.js'
import { listOf, object, text, wholeNumber } from './control/shapes.js'
import { jsonIn } from './json-in.js'
import { queryIn } from './query-in.js'
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
export const RULES_LIMIT_BYTES = 4_194_304

export function createRepliesRouter(rules: RulesByCall): Router {
  const router = Router()

  async function add(request: Request, response: Response): Promise<void> {
    const sent = await jsonIn(request, ruleByCall, RULES_LIMIT_BYTES, {
      mostValues: MOST_VALUES_OF_RULES,
      parse: parseExact,
    })
    const { scope, ...rule } = Array.isArray(sent) ? {} : sent
    const written = (Array.isArray(sent) ? sent : rule) as RuleInput | readonly RuleInput[]
    const added = await rules.addSent(written, scope ?? scopeIn(request)).catch(asRefusal)
    response.status(201).json({ data: added })
  }

  router
    .route('/')
    .get(async (request, response) => {
      const query = queryIn(request, scopedListingQuery)
      const all = await rules.list(scopeIn(request))
      const isPart = query.limit !== undefined || query.offset !== undefined || query.search !== undefined
      response.type('json').send(stringifyExact(isPart ? pageOf(all, query) : { data: all }))
    })
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

/** So many are shown to whoever wants a part and does not say how many. */
const PAGE = 100

/** A part of the rules that are looked for, each with how a file would have it. */
function pageOf(all: readonly ListedRule[], { search, limit = PAGE, offset = 0 }: ListingQuery) {
  const isWanted = searchFor(search)
  const found = search?.trim()
    ? all.filter(({ title, place, rule }) => isWanted([title, place, ...textsIn(rule)]))
    : all
  const data = found.slice(offset, offset + limit).map(rule => ({ ...rule, yaml: fileOf(rule) }))
  return { data, total: found.length }
}

/** Without the conditions that were not written. */
function fileOf({ rule: { when, ...said } }: ListedRule): string {
  const { name, ...rest } = said
  const conditions = when && Object.keys(when).length > 0 ? { when } : {}
  return blockYaml([{ ...(name !== undefined && { name }), ...conditions, ...rest }])
}

/** All texts in a value. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) yield* textsIn(part)
}

export const repliesPaths: Paths = {
  '/replies': {
    get: {
      id: 'listRules',
      does: 'The rules in force, in the order in which they are tried: all of them, or a part where search, limit or offset is given.',
      query: scopedListingQuery,
      answers: {
        200: {
          what: 'The rules; with a part of them how many there are, and how a file would have each.',
          schema: object({ data: listOf({ type: 'object' }), 'total?': wholeNumber }),
        },
      },
    },
    post: {
      id: 'addRules',
      does: 'Adds a rule, or several, that stand before all others.',
      query: resetCall,
      body: sentRules,
      answers: { 201: { what: 'Their ids, in their order.', schema: object({ data: listOf(object({ id: text })) }) } },
      errors: { 409: 'Too many were added already.' },
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
