/** Sessions over HTTP: who is signed in, and signing them out. */
import { Router } from 'express'
import type { OpenSessions } from '../../auth/open-sessions.js'
import { noSuchSession } from '../../core/errors.js'
import { listingQuery } from '../../core/listing-request.js'
import { only } from '../../core/only.js'
import { sessionsOfCall } from '../../core/sessions-request.js'
import { queryIn } from '../query-in.js'
import type { ControlPart, Paths } from './part.js'
import { listOf, object, oneOf, orNothing, text, wholeNumber, yesOrNo } from './shapes.js'

const session = object({
  id: text,
  user_id: text,
  email: orNothing(text),
  phone: orNothing(text),
  is_anonymous: yesOrNo,
  created_at: text,
  refreshed_at: orNothing(text),
  token_expires_at: text,
  aal: oneOf(['aal1']),
  methods: listOf(text),
})

const paths: Paths = {
  '/sessions': {
    get: {
      id: 'listSessions',
      does: 'Who is signed in with the auth backend, the newest first. Tokens are not told.',
      query: listingQuery,
      answers: {
        200: {
          what: 'A part of the list, and how many there are on the whole.',
          schema: object({ data: listOf(session), total: wholeNumber }),
        },
      },
    },
    delete: {
      id: 'endSessions',
      does: 'Signs a user out everywhere, or everybody. Their access tokens open nothing from then on.',
      query: sessionsOfCall,
      answers: { 204: { what: 'They are signed out.' } },
    },
  },
  '/sessions/{id}': {
    delete: {
      id: 'endSession',
      does: 'Ends one session. Its access token opens nothing from then on.',
      answers: { 204: { what: 'It has ended.' } },
    },
  },
}

export function createSessionsPart(sessions: OpenSessions): ControlPart {
  const router = Router()
  router
    .route('/')
    .get(async (request, response) => {
      const { sessions: data, total } = await sessions.list(queryIn(request, listingQuery))
      response.json({ data, total })
    })
    .delete(async (request, response) => {
      await sessions.endAll(queryIn(request, sessionsOfCall).user)
      response.status(204).end()
    })
    .all(only('GET', 'HEAD', 'DELETE'))
  router
    .route('/:id')
    .delete(async ({ params: { id } }, response) => {
      if (!(await sessions.end(id))) throw noSuchSession(id)
      response.status(204).end()
    })
    .all(only('DELETE'))
  return { at: '/sessions', router, paths }
}
