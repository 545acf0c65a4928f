/** GET /auth/v1/admin/audit: nothing is written down of what users do, as at a Supabase that keeps no such log in its database. */
import type { Backend } from '../../auth/backend.js'
import { validationFailed } from '../../core/auth-errors.js'
import type { Endpoint } from '../../core/exchange.js'
import { jsonReply } from '../json-reply.js'
import { forAdmin } from './frame.js'
import { pageHeaders, pageIn } from './pages.js'
import { queryOf } from './params.js'
import type { About } from './says.js'

const about: About = {
  id: 'listAudit',
  does: 'What is written down of what users do: nothing.',
  query: {
    page: 'Which page, from 1 on.',
    per_page: 'How many a page has (50).',
    query: 'author:, action: or type: and a text.',
  },
  answer: 'list',
}

export const auditLog = (backend: Backend): Endpoint =>
  forAdmin(backend)('GET', '/admin/audit', about, exchange => {
    const query = queryOf(exchange)
    const page = pageIn(query)
    const scope = query.get('query') ?? ''
    if (scope !== '' && !/^(author|action|type):/.test(scope)) throw validationFailed(`Invalid query scope: ${scope}`)
    return { ...jsonReply([]), headers: pageHeaders('/admin/audit', query, page, 0) }
  })
