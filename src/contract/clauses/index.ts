/** All clauses, in the order in which they are reported: documented and decided ones, endpoint by endpoint. */
import type { Clause } from '../clause.js'
import { authenticationClauses, credentialClauses } from './authentication.js'
import { chatClauses, chatFormClauses, chatRefusalClauses } from './chat.js'
import { healthClauses, indexClauses, modelsClauses } from './endpoints.js'
import { errorClauses, limitClauses } from './errors.js'

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
].map(clause => ({ ...clause, source: /-D\d/.test(clause.id) ? 'decided' : 'documented' }))
