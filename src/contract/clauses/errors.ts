/** Clauses about errors, limits and calls from web pages. */

import { field, jsonIn, jsonObject, mistakesOf, onlyFields, status } from '../answer-checks.js'
import { errorAnswer, notFoundAnswer } from '../answers.js'
import type { ReceivedAnswer } from '../call.js'
import {
  intruders,
  invalidRequests,
  localPage,
  preflight,
  tooLarge,
  unknownPaths,
  unknownPathWithoutCredential,
  withBadCredential,
  wrongMethod,
} from '../calls.js'
import { type AnswerCheck, asking, askingEach, type CallFor, type ClauseForm } from '../clause.js'

const all = 'All errors are JSON objects with an error field and carry an HTTP status code.'
const bodies = 'Error codes other than 404 and 401, and error bodies for invalid chat requests: not shown.'
const kinds = 'Which credential type is accepted on which endpoint beyond the rules above: not shown.'
const errorField = '| error | string | Short error message. Always present. |'
const pathField = '| path | string | Request path. Present on the not-found error. |'
const notFoundRow = '| 404 | Path does not exist | { error: <string>, path: <requested path> } |'
const unauthorizedRow = '| 401 | Credential missing or invalid | { error: <string> } |'

const strangers = [
  ...['/api/v1', '/v1/models', '/v1/chat/completions'].flatMap(path => [
    withBadCredential(path, 'missing'),
    withBadCredential(path, 'invalid'),
  ]),
  // A gateway may check JWTs and keys in different places, with different errors.
  ...Object.values(intruders),
]

const hasError: AnswerCheck = {
  expected: 'a field error with a short message',
  differs({ text }) {
    const mistake = mistakesOf(errorAnswer, jsonIn(text).value)
    if (mistake !== undefined) return mistake
    return (JSON.parse(text) as { readonly error: string }).error.trim() === '' ? 'an empty error' : undefined
  },
}

const isNotFound = ({ status }: ReceivedAnswer) => status === 404

const unknown = (id: string, what: string, call: CallFor): ClauseForm => ({
  ...{ id, section: 'Errors', quotes: [notFoundRow], what },
  check: asking(call, status(404)),
})

/** If the base URL has a path of its own, both readings of "request path" are accepted. */
const asRequested: AnswerCheck = {
  expected: 'the path as it was requested',
  differs({ text }, { url }, call) {
    const { path } = JSON.parse(text) as { readonly path: string }
    const [pathname = ''] = call.path.split('?')
    const prefix = URL.canParse(url) ? new URL(url).pathname.replace(/\/+$/, '') : ''
    const [given = ''] = path.split('?')
    return given === pathname || given === prefix + pathname ? undefined : `path ${JSON.stringify(path)}`
  },
}

const withoutQuery: AnswerCheck = {
  expected: 'the path without the query',
  differs({ text }) {
    const { path } = JSON.parse(text) as { readonly path: string }
    return path.includes('?') ? `path ${JSON.stringify(path)}` : undefined
  },
}

const allowsPost: AnswerCheck = {
  expected: 'an Allow header that names POST',
  differs({ headers }) {
    const allow = headers.get('allow')
    if (allow === null) return 'no such header'
    return /\bPOST\b/.test(allow) ? undefined : `Allow: ${allow}`
  },
}

export const errorClauses: readonly ClauseForm[] = [
  unknown('ERR-1.1', 'An unknown path below /v1 yields 404.', unknownPaths.language),
  unknown('ERR-1.2', 'An unknown path below /api/v1 yields 404.', unknownPaths.platform),
  unknown('ERR-1.3', 'An unknown path outside of /v1 and /api/v1 yields 404.', unknownPaths.elsewhere),
  unknown('ERR-1.4', 'An unknown path below /health yields 404.', unknownPaths.below),
  unknown('ERR-1.5', 'A POST to an unknown path yields 404 as well.', unknownPaths.posted),
  {
    id: 'ERR-2',
    section: 'Errors',
    quotes: [notFoundRow, errorField, all],
    what: 'The body of each 404 is a JSON object with an error.',
    check: askingEach(Object.values(unknownPaths), isNotFound, 'no call was answered with 404', jsonObject, hasError),
  },
  {
    id: 'ERR-3',
    section: 'Errors',
    quotes: [pathField, notFoundRow],
    what: 'The body of each 404 has the requested path.',
    needs: ['ERR-2'],
    check: askingEach(
      Object.values(unknownPaths),
      isNotFound,
      'no call was answered with 404',
      field('path', notFoundAnswer, 'a field path with a string'),
      asRequested,
    ),
  },
  {
    id: 'ERR-4',
    section: 'Errors',
    quotes: [unauthorizedRow, errorField, all],
    what: 'The body of each 401 is a JSON object with an error.',
    check: askingEach(strangers, ({ status }) => status === 401, 'no call was answered with 401', jsonObject, hasError),
  },
  {
    id: 'ERR-5',
    section: 'Errors',
    quotes: [all, 'Standard REST conventions apply.'],
    what: 'The body of every other error is a JSON object with an error.',
    check: askingEach(invalidRequests, ({ status }) => status >= 400, 'there was no other error', jsonObject, hasError),
  },
  {
    id: 'ERR-D1',
    section: 'Errors',
    quotes: [bodies, kinds],
    what: 'An unknown path yields 404 even without a credential.',
    needs: ['ERR-1.3'],
    check: asking(unknownPathWithoutCredential, status(404)),
  },
  {
    id: 'ERR-D2',
    section: 'Errors',
    quotes: [bodies],
    what: 'The path in a 404 does not include the query.',
    needs: ['ERR-3', 'ERR-D1'],
    check: asking(
      unknownPathWithoutCredential,
      jsonObject,
      field('path', notFoundAnswer, 'a field path with a string'),
      withoutQuery,
    ),
  },
  {
    id: 'ERR-D3',
    section: 'Errors',
    quotes: [bodies],
    what: 'The wrong method on a path that exists yields 405.',
    check: asking(wrongMethod, status(405)),
  },
  {
    id: 'ERR-D4',
    section: 'Errors',
    quotes: [bodies],
    what: 'The Allow header of a 405 names the methods that the path accepts.',
    needs: ['ERR-D3'],
    check: asking(wrongMethod, allowsPost),
  },
  {
    id: 'ERR-D5',
    section: 'Errors',
    quotes: [bodies],
    what: 'The body of an error has only the field error; that of a 404 also has the path.',
    needs: ['ERR-2', 'ERR-4', 'ERR-5'],
    check: askingEach(
      [...strangers, ...invalidRequests],
      ({ status }) => status >= 400 && status !== 404,
      'there was no error',
      onlyFields('error'),
    ),
  },
]

const localOrigin: AnswerCheck = {
  expected: 'Access-Control-Allow-Origin for a page on this machine',
  differs({ headers }) {
    const origin = headers.get('access-control-allow-origin')
    return origin === '*' || origin === localPage ? undefined : (origin ?? 'no such header')
  },
}

export const limitClauses: readonly ClauseForm[] = [
  {
    id: 'LIMIT-D1',
    section: 'Limits',
    quotes: ['Rate limits, request size limits and token limits: not shown.'],
    what: 'A body of more than 4 MB is refused with status 413.',
    check: asking(tooLarge, status(413)),
  },
  {
    id: 'CORS-D1',
    section: 'Beyond the document',
    quotes: [],
    what: 'Web pages on the same machine, such as http://localhost:3000, may call the platform.',
    check: asking(preflight, localOrigin),
  },
]
