/** Clauses about errors, limits and calls from web pages. */
import { errorAnswer, notFoundAnswer } from '../answers.js'
import type { ReceivedAnswer } from '../call.js'
import {
  intruders,
  localPage,
  mistaken,
  preflight,
  strange,
  tooLarge,
  unknownPaths,
  unknownPathWithoutCredential,
  wrongMethod,
} from '../calls.js'
import { type AnswerCheck, asking, askingEach, type CallFor, type ClauseForm } from '../clause.js'
import { field, jsonIn, jsonObject, mistakesOf, onlyFields, status } from '../looks.js'
import { withoutCredential } from '../mcp-calls.js'

const all = 'All errors are JSON objects with an error field and carry an HTTP status code.'
const bodies = 'Error codes other than 404 and 401, and error bodies for invalid chat requests: not shown.'
const kinds = 'Which credential type is accepted on which endpoint beyond the rules above: not shown.'
const errorField = '| error | string | Short error message. Always present. |'
const pathField = '| path | string | Request path. Present on the not-found error. |'
const notFoundRow = '| 404 | Path does not exist | { error: <string>, path: <requested path> } |'
const unauthorizedRow = '| 401 | Credential missing or invalid | { error: <string> } |'

const strangers = [
  ...['/api/v1', '/v1/models', '/v1/chat/completions'].flatMap(path => [strange(path, true), strange(path, false)]),
  // A gateway may check JWTs in another place than keys, and answer with another error.
  ...Object.values(intruders),
  withoutCredential,
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
  expected: 'a header Allow that names POST',
  differs({ headers }) {
    const allow = headers.get('allow')
    if (allow === null) return 'no such header'
    return /\bPOST\b/.test(allow) ? undefined : `Allow: ${allow}`
  },
}

export const errorClauses: readonly ClauseForm[] = [
  unknown('ERR-1.1', 'A path below /v1 that does not exist yields 404.', unknownPaths.language),
  unknown('ERR-1.2', 'A path below /api/v1 that does not exist yields 404.', unknownPaths.platform),
  unknown('ERR-1.3', 'A path below neither that does not exist yields 404.', unknownPaths.elsewhere),
  unknown('ERR-1.4', 'A path below /health that does not exist yields 404.', unknownPaths.below),
  unknown('ERR-1.5', 'A path that does not exist yields 404 for a POST as well.', unknownPaths.posted),
  {
    id: 'ERR-2',
    section: 'Errors',
    quotes: [notFoundRow, errorField, all],
    what: 'The body of each 404 is a JSON object with an error.',
    check: askingEach(Object.values(unknownPaths), isNotFound, 'nothing was answered with 404', jsonObject, hasError),
  },
  {
    id: 'ERR-3',
    section: 'Errors',
    quotes: [pathField, notFoundRow],
    what: 'The body of each 404 has the path that was requested.',
    needs: ['ERR-2'],
    check: askingEach(
      Object.values(unknownPaths),
      isNotFound,
      'nothing was answered with 404',
      field('path', notFoundAnswer, 'a field path with a string'),
      asRequested,
    ),
  },
  {
    id: 'ERR-4',
    section: 'Errors',
    quotes: [unauthorizedRow, errorField, all],
    what: 'The body of each 401 is a JSON object with an error.',
    check: askingEach(strangers, ({ status }) => status === 401, 'nothing was answered with 401', jsonObject, hasError),
  },
  {
    id: 'ERR-5',
    section: 'Errors',
    quotes: [all, 'Standard REST conventions apply.'],
    what: 'The body of every other error is a JSON object with an error.',
    check: askingEach(mistaken, ({ status }) => status >= 400, 'there was no other error', jsonObject, hasError),
  },
  {
    id: 'ERR-D1',
    section: 'Errors',
    quotes: [bodies, kinds],
    what: 'A path that does not exist says so to anyone: 404 without a credential.',
    needs: ['ERR-1.3'],
    check: asking(unknownPathWithoutCredential, status(404)),
  },
  {
    id: 'ERR-D2',
    section: 'Errors',
    quotes: [bodies],
    what: 'The path of a 404 is without the query.',
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
    what: 'A 405 names in its header Allow what the path takes.',
    needs: ['ERR-D3'],
    check: asking(wrongMethod, allowsPost),
  },
  {
    id: 'ERR-D5',
    section: 'Errors',
    quotes: [bodies],
    what: 'The body of an error has the field error and no other; that of a 404 has the path as well.',
    needs: ['ERR-2', 'ERR-4', 'ERR-5'],
    check: askingEach(
      [...strangers, ...mistaken],
      ({ status }) => status >= 400 && status !== 404,
      'there was no error',
      onlyFields('error'),
    ),
  },
]

const localOrigin: AnswerCheck = {
  expected: 'Access-Control-Allow-Origin for a page of this machine',
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
    what: 'Web pages of the same machine, such as http://localhost:3000, may call.',
    check: asking(preflight, localOrigin),
  },
]
