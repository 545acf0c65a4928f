/** The option of scopes: what may name the scope of a request. */
import * as v from 'valibot'
import { different, group, list, option, word } from '../check/forms.js'

/** In the order in which they count. */
export const scopeSources = ['token', 'apiKey', 'body', 'baggage', 'header'] as const
export type ScopeSource = (typeof scopeSources)[number]

export const scopeOptions = group(
  {
    by: option(
      v.pipe(
        list(word(scopeSources), 'sources'),
        v.check(by => different(by), 'a list without duplicates'),
      ),
      [...scopeSources],
      "What names a request's scope; the first one found counts. token: its user. apiKey: the key's owner, or the scope of which it is the key. body: safety_identifier or user of a call to a model. baggage: standin.scope in that header. header: x-standin-scope.",
    ),
  },
  'Parts of the platform for single tests.',
)
