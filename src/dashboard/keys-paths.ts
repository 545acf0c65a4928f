/** What the document says of the API keys over REST. */
import { keyAnswer, keysAnswer, newKeyAnswer } from '../core/dashboard-answers.js'
import { newKeyRequest, rollRequest } from '../core/dashboard-request.js'
import type { Paths, Said } from '../core/operation.js'

const made: Said = { what: 'The key, with its secret as `key`, this once.', form: ['NewKey', newKeyAnswer] }
const noSuchKey = 'There is no such key among those of the user.'
const revokedAlready = 'The key has been revoked or rolled already.'

/** By path below /dashboard; each is for whoever shows a user token. */
export const keysPaths: Paths = {
  '/api/keys': {
    get: {
      id: 'listKeys',
      does: 'The API keys of the user.',
      answers: { 200: { what: 'The keys.', form: ['Keys', keysAnswer] } },
    },
    post: {
      id: 'createKey',
      does: 'A new API key.',
      more: 'The secret is told once. With neither expires_at nor expires_in it works until it is revoked.',
      body: newKeyRequest(Date.now),
      answers: { 201: made },
    },
  },
  '/api/keys/{id}': {
    delete: {
      id: 'revokeKey',
      does: 'Revokes a key.',
      answers: { 200: { what: 'The key, revoked.', form: ['Key', keyAnswer] } },
      errors: { 404: noSuchKey },
    },
  },
  '/api/keys/{id}/roll': {
    post: {
      id: 'rollKey',
      does: 'A new key in the place of one, which lives on for the overlap.',
      body: rollRequest,
      isBodyOptional: true,
      answers: { 201: made },
      errors: { 404: noSuchKey, 409: revokedAlready },
    },
  },
}
