/** Drafts of rules by call: made of an exchange, checked, tried at once, and kept in a file. */
import { type Request, Router } from 'express'
import { checkCall, draftCall, keepCall, tryCall } from '../core/draft-request.js'
import { invalidRequest, noSuchExchange } from '../core/errors.js'
import { only } from '../core/only.js'
import type { Journal } from '../journal/index.js'
import type { Draft, RuleInput, SentRules, Told } from '../replies/index.js'
import type { ControlPart, Paths } from './control/part.js'
import { listOf, object, text, wholeNumber } from './control/shapes.js'
import { jsonIn } from './json-in.js'
import { asRefusal } from './refusals.js'
import type { RulesByCall } from './replies-router.js'
import { scopeIn } from './scope-in.js'

/** What becomes of rules that are in no file yet. */
export interface DraftsByCall {
  draft(told: Told, open: (text: string) => string): Promise<Draft>
  read(yaml: string): Promise<SentRules>
  keep(yaml: string, name: string): Promise<string>
}

export interface DraftParts {
  readonly drafts: DraftsByCall
  readonly rules: Pick<RulesByCall, 'addSent'>
  readonly journal: Pick<Journal, 'get' | 'redaction'>
}

/** Rules take far longer to read as a text than as JSON. */
export const RULE_TEXT_LIMIT_BYTES = 1_048_576

export function createDraftsPart({ drafts, rules, journal }: DraftParts): ControlPart {
  /** Rules that are good. Rejects with a 400 that names the line and the column of the first thing that is wrong. */
  async function goodRules(yaml: string): Promise<readonly RuleInput[]> {
    const { problems, rules } = await drafts.read(yaml)
    const [first] = problems
    if (!first) return rules
    throw invalidRequest(`Line ${first.line ?? 1}, column ${first.column ?? 1}: ${first.sentence}`)
  }

  async function tryOut(request: Request): Promise<readonly { readonly id: string }[]> {
    const { yaml, scope } = await jsonIn(request, tryCall, RULE_TEXT_LIMIT_BYTES)
    return rules.addSent(await goodRules(yaml), scope ?? scopeIn(request)).catch(asRefusal)
  }

  const router = Router()
  router
    .route('/draft')
    .post(async (request, response) => {
      const { exchange } = await jsonIn(request, draftCall)
      const told = journal.get(exchange, Number.POSITIVE_INFINITY)
      const open = journal.redaction(exchange)
      if (!told || !open) throw noSuchExchange(exchange)
      response.json(await drafts.draft(told, open))
    })
    .all(only('POST'))
  router
    .route('/check')
    .post(async (request, response) => {
      const { yaml } = await jsonIn(request, checkCall, RULE_TEXT_LIMIT_BYTES)
      const { problems } = await drafts.read(yaml)
      response.json({ problems: problems.map(({ line = 1, column = 1, sentence }) => ({ line, column, sentence })) })
    })
    .all(only('POST'))
  router
    .route('/try')
    .post(async (request, response) => void response.status(201).json({ data: await tryOut(request) }))
    .all(only('POST'))
  router
    .route('/keep')
    .post(async (request, response) => {
      const { yaml, name } = await jsonIn(request, keepCall, RULE_TEXT_LIMIT_BYTES)
      await goodRules(yaml)
      response.status(201).json({ file: await drafts.keep(yaml, name) })
    })
    .all(only('POST'))
  return { at: '/replies', router, paths: draftPaths }
}

const draftPaths: Paths = {
  '/replies/draft': {
    post: {
      id: 'draftRule',
      does: 'Drafts a rule that says again what was said in an exchange of the journal.',
      body: draftCall,
      answers: {
        200: {
          what: 'The rule as a file would have it, what that could be called, and what is to be known of it.',
          schema: object({ yaml: text, name: text, remarks: listOf(text) }),
        },
      },
      errors: {
        404: 'There is no such exchange in the journal.',
        409: 'No rule can be made of the exchange.',
      },
    },
  },
  '/replies/check': {
    post: {
      id: 'checkRules',
      does: 'Says what is wrong with rules, without their coming into force.',
      body: checkCall,
      answers: {
        200: {
          what: 'What is wrong, up to 1,000 mistakes; nothing where the rules are good.',
          schema: object({ problems: listOf(object({ line: wholeNumber, column: wholeNumber, sentence: text })) }),
        },
      },
    },
  },
  '/replies/try': {
    post: {
      id: 'tryRules',
      does: 'Adds rules that are written as in a file; they stand before all others until they are removed.',
      body: tryCall,
      answers: { 201: { what: 'Their ids, in their order.', schema: object({ data: listOf(object({ id: text })) }) } },
      errors: { 409: 'Too many were added already.' },
    },
  },
  '/replies/keep': {
    post: {
      id: 'keepRules',
      does: 'Puts rules into a new file, in the folder that the option replies names. The command reads it as soon as it is there.',
      body: keepCall,
      answers: { 201: { what: 'The file, relative to the configuration.', schema: object({ file: text }) } },
      errors: { 409: 'The configuration names no folder for it, or there is such a file already.' },
    },
  },
}
