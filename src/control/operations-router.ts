/** Serves operations over HTTP: routes, access, validation of input, and the form of the responses. */
import type { NextFunction, Request, Response } from 'express'
import { check } from '../check/check.js'
import { ProblemsError } from '../check/problem.js'
import {
  emptyBody,
  invalidRequest,
  methodNotAllowed,
  notFound,
  notJson,
  PlatformError,
  unreadableRequest,
} from '../core/errors.js'
import { modestJsonBody, stringifyExact } from '../core/json.js'
import {
  type Audience,
  answers,
  checkAnswer,
  type Operation,
  type Operations,
  type Schema,
  StreamedAnswer,
  TextAnswer,
  type User,
} from '../core/operation.js'
import { SCOPE_HEADER } from '../core/scope.js'
import { readBody, requireJson } from '../http/body.js'
import { Router } from '../http/express.js'
import { validated } from './local.js'

/** Checks that a caller has access, or rejects with a PlatformError. Resolves to the user if the operation requires one. */
export type Admit = (request: Request, access: Audience) => Promise<User | undefined>

/** The size limit of request bodies. Most are much smaller. */
const BODY_LIMIT_BYTES = 65_536

export function createOperationsRouter(operations: Operations, admit: Admit): Router {
  const router = Router()
  for (const [path, own] of groupedByPath(operations)) {
    const route = router.route(path.replaceAll(/\{(\w+)\}/g, ':$1'))
    for (const one of own) route[methodOf(one)](handlerOf(one, admit))
    const allowed = own.flatMap(one => (methodOf(one) === 'get' ? ['GET', 'HEAD'] : methodOf(one).toUpperCase()))
    route.all(async request => {
      const { access = 'developer' } = own[0] ?? {}
      if (access === 'developer') await admit(request, access)
      throw methodNotAllowed(request.method, allowed)
    })
  }
  router.use(refuseMalformedPath)
  return router
}

/** The operations of each path, with fixed paths before paths with parameters. */
function groupedByPath(operations: Operations): readonly (readonly [path: string, own: readonly Operation[]])[] {
  const paths = new Map<string, Operation[]>()
  for (const one of Object.values(operations)) {
    const path = one.at.slice(one.at.indexOf(' ') + 1)
    paths.set(path, [...(paths.get(path) ?? []), one])
  }
  return [...paths].toSorted(([a], [b]) => Number(a.includes('{')) - Number(b.includes('{')))
}

const methodOf = ({ at }: Operation) => at.slice(0, at.indexOf(' ')).toLowerCase() as 'get' | 'put' | 'post' | 'delete'

const handlerOf = (one: Operation, admit: Admit) => async (request: Request, response: Response) => {
  const user = await admit(request, one.access ?? 'developer')
  const query = one.query && readQuery(request, one.query)
  const body = one.body && (await readJsonBody(request, one))
  const named = request.query.scope ?? request.headers[SCOPE_HEADER]
  const scope = typeof named === 'string' ? named : undefined
  const { headers, socket } = request
  const { remoteAddress } = socket
  const answer = await run(one, { ...request.params, query, body, user, scope, headers, remoteAddress })
  if (answers.isChecked) checkAnswer(one, answer)
  await send(response, one, answer)
}

async function run(one: Operation, given: object): Promise<unknown> {
  try {
    return await one.run(given as never)
  } catch (error) {
    const [first] = error instanceof ProblemsError ? error.problems : []
    throw first ? invalidRequest(first.sentence) : error
  }
}

function send(response: Response, { status, returns }: Operation, answer: unknown): unknown {
  if (answer instanceof StreamedAnswer) {
    response.setHeader('content-type', answer.contentType)
    return response.req.method === 'HEAD' ? response.end() : answer.write(response)
  }
  if (answer instanceof TextAnswer) return response.set('content-type', answer.contentType).send(answer.text)
  if (returns === undefined) return response.status(204).end()
  return response
    .status(status ?? 200)
    .type('json')
    .send(stringifyExact(answer))
}

/** Throws a 400 that names the first parameter that is unknown or invalid. */
function readQuery(request: Request, schema: Schema): unknown {
  const { entries } = schema as unknown as { readonly entries: Readonly<Record<string, Schema>> }
  const read = Object.entries(request.query).map(([name, written]) => {
    const entry = Object.hasOwn(entries, name) ? entries[name] : undefined
    return [name, entry ? convertFor(entry, written) : written] as const
  })
  return validated(schema, Object.fromEntries(read), 'The query')
}

/** Converts the text of a query value to the type that the schema expects. */
function convertFor(schema: Schema, written: unknown): unknown {
  if (typeof written !== 'string') return written
  const number = /^-?\d+(\.\d+)?$/.test(written) ? Number(written) : written
  return [written, number, booleans.get(written)].find(reading => 'value' in check(schema, reading)) ?? written
}

/** A name without a value, as in `?follow`, means true. */
const booleans = new Map([
  ['', true],
  ['true', true],
  ['false', false],
])

/** Rejects with a PlatformError that names the first mistake. */
async function readJsonBody(
  request: Request,
  { body, takes, isBodyOptional, bodyReading: reads = {} }: Operation,
): Promise<unknown> {
  const { bytes: limitBytes = BODY_LIMIT_BYTES, parse = modestJsonBody } = reads
  const schema = takes ?? body
  if (!schema) return undefined
  if (isBodyOptional && !hasBody(request)) return validated(schema, {}, 'The request body')
  requireJson(request)
  const bytes = await readBody(request, limitBytes)
  if (bytes instanceof PlatformError) throw bytes
  // The client has disconnected.
  if (!bytes) throw unreadableRequest()
  if (bytes.length === 0 && !isBodyOptional) throw emptyBody()
  const written = bytes.length === 0 ? {} : await parseOrRefuse(bytes, parse)
  return validated(schema, written, 'The request body')
}

const hasBody = ({ headers }: Request) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

async function parseOrRefuse(body: Buffer, parse: (body: Buffer) => unknown): Promise<unknown> {
  try {
    return await parse(body)
  } catch (error) {
    throw error instanceof SyntaxError ? notJson(error.message) : error
  }
}

/** Malformed ids are treated as unknown. Express recognises an error handler by its four parameters. */
function refuseMalformedPath(error: unknown, _request: Request, _response: Response, _next: NextFunction): never {
  throw error instanceof URIError ? notFound() : error
}
