/** GET /api/v1: the list of endpoints (platform-api.md, "API index response"). A separate file, like every endpoint. */
import type { IndexAnswer } from '../contract/answers.js'
import type { Access, Endpoint, EndpointDescription } from '../core/exchange.js'
import { INDEX } from '../core/paths.js'
import { jsonReply } from '../core/reply.js'

/** Adds the index to `endpoints`, in its documented place after the first one. It lists all of them and itself. */
export function withIndex(access: Access, endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const [first, ...rest] = endpoints
  const own = { method: 'GET', path: INDEX, access, takesBody: false } as const
  const index: Endpoint = { ...own, describe, reply: () => reply }
  const all = [...(first ? [first] : []), index, ...rest]
  const reply = jsonReply({ status: 'ok', endpoints: all.map(indexEntry) } satisfies IndexAnswer)
  return all
}

/**
 * The document does not show the elements. Ours have the method, the path and the accepted kinds of credential, which
 * are empty if anyone may call.
 */
export const indexEntry = ({ method, path, access }: Pick<Endpoint, 'method' | 'path' | 'access'>) => ({
  method,
  path,
  credential: access === 'anyone' ? [] : access,
})

async function describe(): Promise<EndpointDescription> {
  const { indexAnswer, listedIndexAnswer } = await import('../contract/answers.js')
  return {
    id: 'getIndex',
    does: 'Lists the endpoints of the platform.',
    section: 'Endpoints',
    answers: {
      200: {
        what: 'The endpoints.',
        form: ['ApiIndex', listedIndexAnswer],
        section: 'API index response (JSON)',
        fields: Object.keys(indexAnswer.entries),
      },
    },
  }
}
