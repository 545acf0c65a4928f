/** Operations on scopes: which users they follow. */
import { closed, described, optional, text } from '../check/forms.js'
import { operation } from '../control/operation.js'
import type { Scopes } from './index.js'
import { scopedUser, scopeName } from './users.js'

interface ScopeParts {
  readonly scopes: Pick<Scopes, 'follow' | 'unfollow'>
  readonly reset: (options: { readonly scope: string }) => Promise<void>
}

export const scopeOperations = ({ scopes, reset }: ScopeParts) => ({
  followUser: operation({
    at: 'POST /scopes',
    does: 'Assigns the requests of a user to a scope until it is closed, and returns its name.',
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
    does: 'Resets a scope, to which the requests of its users then no longer belong.',
    run({ name }) {
      scopes.unfollow(name)
      return reset({ scope: name })
    },
  }),
})
