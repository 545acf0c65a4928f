/** Calls with credentials that open nothing, each for another reason. */
import { anonKeyOf, apiKeyOf, chatAs, get } from './calls.js'
import type { CallFor } from './clause.js'
import { forgedToken, forgedUserToken, unsignedToken } from './forged.js'

const MODELS = '/v1/models'
const INDEX = '/api/v1'

export const intruders = {
  forgedAtIndex: target => get(INDEX, `Bearer ${forgedToken(target)}`),
  forgedUserAtIndex: target => get(INDEX, `Bearer ${forgedUserToken(target)}`),
  forgedUserAtModels: target => get(MODELS, `Bearer ${forgedUserToken(target)}`),
  forgedUserAtChat: chatAs(target => `Bearer ${forgedUserToken(target)}`),
  unsignedAtIndex: () => get(INDEX, `Bearer ${unsignedToken()}`),
  unsignedAtModels: () => get(MODELS, `Bearer ${unsignedToken()}`),
  unsignedAtChat: chatAs(() => `Bearer ${unsignedToken()}`),
  keyAloneAtModels: target => get(MODELS, apiKeyOf(target)),
  keyAloneAtChat: chatAs(apiKeyOf),
  otherSchemeAtIndex: target => get(INDEX, `Basic ${anonKeyOf(target)}`),
  schemeAloneAtModels: () => get(MODELS, 'Bearer'),
} satisfies Readonly<Record<string, CallFor>>
