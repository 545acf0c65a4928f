/** Clauses about GET /api/v1. */
import { indexAnswer, listedEndpoint } from '../../core/answers.js'
import { index } from '../calls.js'
import { asking, type Clause, type Look } from '../clause.js'
import { field, jsonIn, jsonObject, mistakesOf, status } from '../looks.js'

const endpointsIn = (text: string) => (jsonIn(text).value as { readonly endpoints: readonly unknown[] }).endpoints

const elements: Look = {
  expected: 'elements with method, path and credential',
  differs({ text }) {
    for (const [i, element] of endpointsIn(text).entries()) {
      const mistake = mistakesOf(listedEndpoint, element)
      if (mistake !== undefined) return `endpoints[${i}]: ${mistake.replace(/^The body/, 'it')}`
    }
    return undefined
  },
}

const documented = ['GET /health', 'GET /api/v1', 'POST /v1/chat/completions', 'GET /v1/models']

const whole: Look = {
  expected: `the endpoints ${documented.join(', ')}`,
  differs({ text }) {
    const listed = (endpointsIn(text) as readonly { readonly method: string; readonly path: string }[]).map(
      ({ method, path }) => `${method} ${path}`,
    )
    const missing = documented.filter(endpoint => !listed.includes(endpoint))
    return missing.length === 0 ? undefined : `no ${missing.join(', no ')}`
  },
}

const open = 'Elements of the endpoints array: not shown.'

export const indexClauses: readonly Clause[] = [
  {
    id: 'EP-2',
    section: 'Endpoints',
    quotes: [
      '| GET | /api/v1 | none | API index response object |',
      'GET /api/v1 is called with Authorization: Bearer <ANON_KEY>.',
      'The platform API (/api/v1) accepts an anonymous-role key, <ANON_KEY>, in the bearer position.',
      'The platform API lives under the path prefix /api/v1.',
      'An API index that lists endpoints.',
    ],
    what: 'GET /api/v1 with the anon key answers with status 200.',
    source: 'documented',
    check: asking(index, status(200)),
  },
  {
    id: 'INDEX-1',
    section: 'Resources and their fields',
    quotes: ['### API index response (JSON)'],
    what: 'The API index is a JSON object.',
    source: 'documented',
    needs: ['EP-2'],
    check: asking(index, jsonObject),
  },
  {
    id: 'INDEX-2',
    section: 'Resources and their fields',
    quotes: ['| status | string | Value ok. |'],
    what: 'The API index has the status ok.',
    source: 'documented',
    needs: ['INDEX-1'],
    check: asking(index, field('status', indexAnswer, 'the status "ok"')),
  },
  {
    id: 'INDEX-3',
    section: 'Resources and their fields',
    quotes: ['| endpoints | array | List of endpoints. |'],
    what: 'The API index has an array of endpoints.',
    source: 'documented',
    needs: ['INDEX-1'],
    check: asking(index, field('endpoints', indexAnswer, 'an array of endpoints')),
  },
  {
    id: 'INDEX-D1',
    section: 'Resources and their fields',
    quotes: [open],
    what: 'Each endpoint in the API index has a method, a path and the kinds of credential that open it.',
    source: 'decided',
    needs: ['INDEX-3'],
    check: asking(index, elements),
  },
  {
    id: 'INDEX-D2',
    section: 'Resources and their fields',
    quotes: [open],
    what: 'The API index lists each documented endpoint.',
    source: 'decided',
    needs: ['INDEX-D1'],
    check: asking(index, whole),
  },
]
