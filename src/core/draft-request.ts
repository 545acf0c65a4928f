/** What may be asked of drafts of rules over the control API. */
import * as v from 'valibot'
import { closed, described, optional } from '../check/check.js'

const id = 'the id of an exchange in the journal, such as 17'
const aName = 'a name of small letters, digits and single dashes, such as greeting-in-french'

const yaml = described(v.pipe(v.string('YAML'), v.nonEmpty('YAML')), 'A list of rules as in a file.')

/** What a rule is to be made of. */
export const draftCall = closed({
  exchange: described(v.pipe(v.string(id), v.regex(/^\d{1,15}$/, id)), 'The id of the exchange in the journal.'),
})

/** Rules that are only to be looked at. */
export const checkCall = closed({ yaml })

/** Rules that are to be in force until they are removed. */
export const tryCall = closed({ yaml, scope: optional(v.string('text'), 'Whose requests they are for.') })

/** Rules that are to be kept. */
export const keepCall = closed({
  yaml,
  name: described(
    v.pipe(v.string(aName), v.regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, aName), v.maxLength(80, aName)),
    'What the file is called, without its ending.',
  ),
})
