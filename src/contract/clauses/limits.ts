/** What Standin has decided about limits and about calls from web pages. */
import { localPage, preflight } from '../calls.js'
import { asking, type Clause, type Look } from '../clause.js'
import { status } from '../looks.js'
import { tooLarge } from '../mistaken.js'

const localOrigin: Look = {
  expected: 'Access-Control-Allow-Origin for a page of this machine',
  differs({ headers }) {
    const origin = headers.get('access-control-allow-origin')
    return origin === '*' || origin === localPage ? undefined : (origin ?? 'no such header')
  },
}

export const limitClauses: readonly Clause[] = [
  {
    id: 'LIMIT-D1',
    section: 'Limits',
    quotes: ['Rate limits, request size limits and token limits: not shown.'],
    what: 'A body of more than 4 MB is refused with status 413.',
    source: 'decided',
    check: asking(tooLarge, status(413)),
  },
  {
    id: 'CORS-D1',
    section: 'Beyond the document',
    quotes: [],
    what: 'Web pages of the same machine, such as http://localhost:3000, may call.',
    source: 'decided',
    check: asking(preflight, localOrigin),
  },
]
