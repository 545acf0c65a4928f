/** Tokens by call: POST makes one without a password, as `standin token` does. */
import { Router } from 'express'
import type { MintedToken, TokenWish } from '../auth/mint.js'
import { only } from '../core/only.js'
import { tokenRequest } from '../core/token-request.js'
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
