/** The outbox over HTTP: what would have been sent to users, and forgetting it. */
import { Router } from 'express'
import type { People } from '../../auth/people.js'
import { only } from '../../core/only.js'
import type { ControlPart, Paths } from './part.js'
import { listOf, object, oneOf, orNothing, text } from './shapes.js'

const message = object({
  id: text,
  user_id: orNothing(text),
  channel: oneOf(['email', 'sms']),
  recipient: text,
  kind: text,
  subject: text,
  code: orNothing(text),
  link: orNothing(text),
  created_at: text,
})

const paths: Paths = {
  '/outbox': {
    get: {
      id: 'listMessages',
      does: 'Mail and text messages that a live backend would have sent, the newest first, with their codes and links.',
      answers: { 200: { what: 'The messages.', schema: object({ data: listOf(message) }) } },
    },
    delete: { id: 'clearMessages', does: 'Empties the outbox.', answers: { 204: { what: 'It is empty.' } } },
  },
}

export function createOutboxPart(people: Pick<People, 'messages' | 'clearMessages'>): ControlPart {
  const router = Router()
  router
    .route('/')
    .get(async (_request, response) => void response.json({ data: await people.messages() }))
    .delete(async (_request, response) => {
      await people.clearMessages()
      response.status(204).end()
    })
    .all(only('GET', 'HEAD', 'DELETE'))
  return { at: '/outbox', router, paths }
}
