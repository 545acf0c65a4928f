/** The option for OpenAPI documents. A separate file, like those of other groups. */
import * as v from 'valibot'
import { closed, filled, list, option, optional, text } from '../check/forms.js'
import { access } from '../core/exchange.js'

const prefix = v.pipe(
  text,
  v.regex(/^(\/[^\s?#{}]*)?$/, 'a path that begins with a slash, such as /builder, or an empty text for none'),
)

const openapiDocument = closed({
  file: filled,
  access: optional(
    access,
    'Who may call its operations: anyone, or a list of anon, service, user, apiKey. Without it, operations with a security scheme accept API keys and users.',
  ),
  validate: optional(
    v.boolean('true or false'),
    'Whether requests that do not fit the parameters and schemas get a 400; true by default.',
  ),
  prefix: optional(prefix, "The prefix of its paths, instead of the path of the document's first server."),
  folders: optional(
    list(filled, 'folders'),
    'Further folders with files that the document refers to, besides its own folder and that of this file.',
  ),
})

const one = v.union([filled, openapiDocument], 'a file, or a map with file')

export const openapiOptions = option(
  v.union([filled, openapiDocument, list(one, 'documents')], 'a file, a map with file, or a list of them'),
  [],
  'OpenAPI documents (3.0 to 3.2), relative to this file. Operations that no rule answers are answered from examples and schemas.',
)

export type OpenapiOptions = v.InferOutput<typeof openapiOptions>
