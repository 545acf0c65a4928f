/** All clauses, in the order in which they are told: documented and decided ones, endpoint by endpoint. */
import type { Clause } from '../clause.js'
import { indexClauses } from './api-index.js'
import { authenticationClauses } from './authentication.js'
import { chatClauses } from './chat.js'
import { chatFormClauses } from './chat-form.js'
import { chatRefusalClauses } from './chat-refusals.js'
import { credentialClauses } from './credentials.js'
import { errorClauses } from './errors.js'
import { healthClauses } from './health.js'
import { limitClauses } from './limits.js'
import { modelsClauses } from './models.js'

export const clauses: readonly Clause[] = [
  ...healthClauses,
  ...indexClauses,
  ...modelsClauses,
  ...chatClauses,
  ...chatFormClauses,
  ...chatRefusalClauses,
  ...authenticationClauses,
  ...credentialClauses,
  ...errorClauses,
  ...limitClauses,
]
