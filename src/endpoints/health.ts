/**
 * GET /health: whether the service is up, and its version (platform-api.md, "Health response").
 * A separate file, like every endpoint.
 */
import type { HealthAnswer } from '../contract/answers.js'
import type { Access, Endpoint, EndpointDescription } from '../core/exchange.js'
import { HEALTH } from '../core/paths.js'
import { jsonReply } from '../core/reply.js'

export function health({ version, access }: { version: string; access: Access }): Endpoint {
  const reply = jsonReply({ status: 'ok', version } satisfies HealthAnswer)
  return { method: 'GET', path: HEALTH, access, takesBody: false, describe, reply: () => reply }
}

async function describe(): Promise<EndpointDescription> {
  const { healthAnswer } = await import('../contract/answers.js')
  return {
    id: 'getHealth',
    does: 'Returns whether the service is healthy, and its version.',
    section: 'Endpoints',
    answers: {
      200: {
        what: 'It is healthy.',
        form: ['Health', healthAnswer],
        section: 'Health response (JSON)',
        fields: ['status', 'version'],
      },
    },
  }
}
