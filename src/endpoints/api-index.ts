/** GET /api/v1: the list of endpoints (platform-api.md, "API index response"). */
import * as v from 'valibot'
import { arrayOf, only, open, text } from '../check/forms.js'
import type { DocumentedEndpoint, OwnPath } from '../core/exchange.js'
import { fixedReply, jsonReply, type Reply } from '../core/reply.js'

/** Documented, except for the elements. */
const indexAnswer = open({
  status: only('ok'),
  endpoints: v.array(v.unknown(), 'an array'),
})

/** The index with our elements: their methods, paths and accepted kinds of credential, which are empty if anyone may call. */
export const listedIndexAnswer = open({
  ...indexAnswer.entries,
  endpoints: arrayOf(
    open({ method: text, path: v.pipe(text, v.startsWith('/', 'a path')), credential: arrayOf(text, 'strings') }),
    'endpoints',
  ),
})

type Listed = Pick<OwnPath, 'method' | 'path' | 'access'>

const listed = ({ method, path, access }: Listed) => ({ method, path, credential: access === 'anyone' ? [] : access })

export const apiIndex = {
  name: 'index',
  method: 'GET',
  path: '/api/v1',
  access: ['anon', 'service', 'user'],
  listsPaths: true,
  answer: { form: indexAnswer, section: 'API index response (JSON)', isDocumented: true },
  clause: 'EP-2',
  /** `endpoints` are all documented ones, itself included. */
  replyWith: ({ endpoints }: { readonly endpoints: readonly Listed[] }) =>
    fixedReply({ status: 'ok', endpoints: endpoints.map(listed) }),
} as const satisfies DocumentedEndpoint

/** The index with further paths at its end. */
export function withPaths(index: Reply, paths: readonly Listed[]): Reply {
  const { endpoints, ...rest } = JSON.parse(String(index.body)) as { readonly endpoints: readonly unknown[] }
  return { ...index, ...jsonReply({ ...rest, endpoints: [...endpoints, ...paths.map(listed)] }) }
}
