/** The options of resources: collections of rows on the user's own paths. */
import * as v from 'valibot'
import { closed, filled, list, map, metadata, option, optional, text, word } from '../check/forms.js'
import { access } from '../core/exchange.js'

/** What can be done with a collection and its rows. */
export const resourceActions = ['list', 'get', 'create', 'update', 'replace', 'delete'] as const
export type ResourceAction = (typeof resourceActions)[number]

const aField = 'a field such as id, or the path of one such as meta.id'
const fieldPath = v.pipe(text, v.regex(/^[\w$-]+(\.[\w$-]+)*$/, aField))
const aName = 'the name of a field, such as user_id'
const name = v.pipe(text, v.regex(/^[\w$-]+$/, aName))

const resource = closed({
  data: optional(
    v.union([filled, list(metadata, 'rows')], 'a YAML or JSON file, or a list of rows'),
    'The initial rows: a YAML or JSON file with a list, relative to this file, or the list itself.',
  ),
  id: optional(
    v.union(
      [
        fieldPath,
        closed({
          field: optional(fieldPath, 'The field, or its path.'),
          as: optional(
            word(['uuid', 'integer', 'given']),
            'Which ids new rows get: uuid, integer (one more than the highest) or given (by the caller).',
          ),
        }),
      ],
      `${aField}, or { field, as }`,
    ),
    'The field with the id of a row: id by default. New rows get whole numbers if the initial rows have them, otherwise UUIDs.',
  ),
  owner: optional(
    v.union(
      [v.literal('user', 'the word user, or { field: user_id }'), closed({ field: name })],
      'the word user, or { field: user_id }',
    ),
    'Who owns the rows. With user, each row belongs to the signed-in user, whose id is in the field user_id. An API key acts as its owner, and the service key sees all rows.',
  ),
  only: optional(
    v.pipe(list(word(resourceActions), 'actions'), v.nonEmpty('a list with at least one action')),
    `The allowed operations: ${resourceActions.join(', ')}; all by default.`,
  ),
  schema: optional(
    v.union([filled, metadata], 'a file with a JSON Schema, or the schema'),
    'The JSON Schema of rows: a file, or the schema itself. Other rows are refused.',
  ),
  access: optional(
    access,
    'Who may call: anyone, or a list of anon, service, user, apiKey. By default as documented for the prefix, otherwise apiKey and user.',
  ),
})

const path = v.pipe(text, v.regex(/^\/[^?#\s]*$/, 'a path such as /builder/projects'))

export const resourceOptions = option(
  map(path, v.nullish(resource, {}), 'a map from paths to resources'),
  {},
  'Collections of rows that can be listed, read, created, changed and deleted, by their paths, such as { /builder/projects: { data: fixtures/projects.yaml, owner: user } }.',
)

export type ResourceOptions = v.InferOutput<typeof resource>
