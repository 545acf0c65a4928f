/** Who may call a configured path. Apart from callers, whose words the page uses: it does not need forms. */
import * as v from 'valibot'
import { list, word } from '../check/forms.js'
import { credentialKinds } from './caller.js'

/** Who may call, as it is configured. */
export const access = v.union(
  [
    v.literal('anyone', 'anyone, or a list of credential kinds'),
    v.pipe(list(word(credentialKinds), 'credential kinds'), v.nonEmpty('anyone, or a list with at least one kind')),
  ],
  `anyone, or a list of ${credentialKinds.join(', ')}`,
)
