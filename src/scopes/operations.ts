/** Operations on scopes: which users they follow. */
import { closed, described, optional, text, word } from '../check/forms.js'
import { operation } from '../core/operation.js'
import type { Scopes } from './index.js'
import { scopedUser, scopeName } from './users.js'

interface ScopeParts {
  readonly scopes: Pick<Scopes, 'follow' | 'unfollow'>
  readonly reset: (options: { readonly scope: string }) => Promise<void>
  readonly endTest: (hasPassed: boolean, test: string) => void
}

/** What became of a test. Recordings of one that has failed are not removed, since it may not have asked for all of them. */
const testResult = word(['passed', 'failed'])

export const scopeOperations = ({ scopes, reset, endTest }: ScopeParts) => ({
  followUser: operation({
    at: 'POST /scopes',
    does: 'Assigns the requests of a user to a scope. Returns its name.',
    body: closed({
      user: described(scopedUser, 'An email address, which need not have signed up yet, or the id of a user.'),
      name: optional(scopeName, 'The name of the scope; by default the address, or else the id.'),
    }),
    returns: closed({ scope: text }),
    status: 201,
    run: ({ body }) => ({ scope: scopes.follow(body.user, body.name) }),
  }),
  closeScope: operation({
    at: 'DELETE /scopes/{name}',
    does: 'Resets a scope and lets its users go.',
    query: closed({ result: optional(testResult, 'What became of its test.') }),
    run({ name, query: { result } }) {
      if (result !== undefined) endTest(result === 'passed', name)
      scopes.unfollow(name)
      return reset({ scope: name })
    },
  }),
})
