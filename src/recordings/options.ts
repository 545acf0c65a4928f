/**
 * The options of recordings: where they are stored, what is recorded, redacted and compared, and how they are replayed.
 */
import * as v from 'valibot'
import { isExpression } from '../check/expressions.js'
import {
  closed,
  filled,
  group,
  integer,
  listOrText,
  numberBetween,
  option,
  optional,
  text,
  word,
} from '../check/forms.js'
import { TOOL_RESULTS } from './ignore.js'
import { ignoredNames } from './ignored-names.js'

const anExpression = 'a regular expression between slashes, such as /\\d+/'
const expression = v.pipe(text, v.check(isExpression, anExpression))

const name = word(ignoredNames)
const words = [...ignoredNames, TOOL_RESULTS].join(', ')
const fieldOrExpression = `the path of a field, such as metadata.requestId or messages[*].name, a regular expression between slashes, or one of the words ${words}`
/** `$` and dots alone are not a path. */
const path = v.pipe(
  filled,
  v.check(
    written => !/^\$?[.[\]]*$/.test(written),
    'the path of a field, such as metadata.requestId or messages[*].name',
  ),
)
const place = v.pipe(
  filled,
  v.check(written => (written.startsWith('/') ? isExpression(written) : v.is(path, written)), fieldOrExpression),
)

const ignoredPart = v.pipe(
  closed({
    path: optional(path, 'A field of the body: metadata.requestId, messages[*].name, tools.**.description.'),
    query: optional(filled, 'A parameter of the query.'),
    pattern: optional(
      v.union([name, expression], `${anExpression}, or one of the words ${ignoredNames.join(', ')}`),
      'Ignores only what matches this or has this name; without path and query, in any text.',
    ),
  }),
  v.check(
    ({ path, query, pattern }) => [path, query, pattern].some(part => part !== undefined),
    'is empty: it needs a path, a query or a pattern.',
  ),
  v.check(
    ({ path, query }) => path === undefined || query === undefined,
    'has both path and query, which are ignored separately: write two entries.',
  ),
)

const ignored = v.union([name, place, ignoredPart], `${fieldOrExpression}, or { path, query, pattern }`)

const secretName = v.pipe(
  filled,
  v.check(written => !written.startsWith('/') || isExpression(written), `a name, or ${anExpression}`),
)

const secretPart = v.union(
  [
    secretName,
    closed({
      name: optional(
        v.pipe(text, v.regex(/^[a-z][a-z0-9-]*$/, 'lower-case letters, digits and dashes')),
        'The name of its placeholder.',
      ),
      pattern: v.pipe(expression, v.description('What is secret.')),
    }),
  ],
  `the name of a header, parameter or field, ${anExpression}, the word emails, or { name, pattern }`,
)

export const recordingOptions = group(
  {
    dir: option(filled, 'fixtures/recordings', 'Folder of the recordings, relative to this file.'),
    onMiss: option(
      word(['fail', 'nearest', 'any', 'emulate', 'record']),
      'fail',
      'What replay does without a recording: fail (a 424 that names the nearest one), nearest (answer from one of the same conversation with another prompt), any (also a request with other messages, if it has a test, from the recording at its place in the test), emulate, or record (ask the live platform and record it).',
    ),
    speed: option(
      numberBetween(0, 1000),
      1,
      'Speed of replay: 1 as recorded, 10 ten times as fast, 0 without pauses, which is the default of standin exec and of tests.',
    ),
    ignore: option(
      listOrText(ignored, 'paths, names and expressions'),
      [],
      'Parts to ignore when requests are compared: dates, times, uuids, ids, paths, toolResults, fields such as metadata.requestId, expressions such as /run \\d+/.',
    ),
    budget: group(
      {
        promptTokens: option(integer(0), 0, 'Most prompt tokens of a test, or of a run without tests; 0 for no limit.'),
        calls: option(integer(0), 0, 'Most chat completions of a test, or of a run without tests; 0 for no limit.'),
      },
      'What a test may send to the model; more makes it fail.',
    ),
    redact: option(
      listOrText(secretPart, 'names and expressions'),
      [],
      'Further secrets to keep out of files: names of headers, query parameters and fields, expressions such as /cus_\\w+/, and the word emails for all email addresses. Credentials, JWTs and keys are never written to disk.',
    ),
  },
  'Answers of the live platform, saved to disk.',
)

export type RecordingOptions = v.InferOutput<typeof recordingOptions>
