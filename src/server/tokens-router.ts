/** Tokens by call: POST makes one without a password, as `standin token` does. */
import { Router } from 'express'
import type { MintedToken, TokenWish } from '../auth/mint.js'
import { only } from '../core/only.js'
import { tokenRequest } from '../core/token-request.js'
import type { Paths } from './control/part.js'
import { object, text } from './control/shapes.js'
import { jsonIn } from './json-in.js'

export interface TokenParts {
  readonly mintToken: (wish: TokenWish) => Promise<MintedToken>
}

export function createTokensRouter({ mintToken }: TokenParts): Router {
  const router = Router()
  router
    .route('/')
    .post(
      async (request, response) => void response.status(201).json(await mintToken(await jsonIn(request, tokenRequest))),
    )
    .all(only('POST'))
  return router
}

export const tokenPaths: Paths = {
  '/tokens': {
    post: {
      id: 'createToken',
      does: 'Makes a token without a password; a user who is not there yet signs up.',
      body: tokenRequest,
      answers: { 201: { what: 'The token, and when it expires.', schema: object({ token: text, expires_at: text }) } },
      errors: { 409: 'Users and their tokens are those of a live backend.' },
    },
  },
}
