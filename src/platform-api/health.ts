/** GET /health: whether it is up, and its version (platform-api.md, "Health response"). A file of its own, as every endpoint is. */
import type { HealthAnswer } from '../core/answers.js'
import type { Access, Endpoint } from '../core/exchange.js'
import type { Description } from '../core/operation.js'
import { jsonReply } from '../core/reply.js'

export function health({ version, access }: { version: string; access: Access }): Endpoint {
  const reply = jsonReply({ status: 'ok', version } satisfies HealthAnswer)
  return { method: 'GET', path: '/health', access, takesBody: false, says, reply: () => reply }
}

async function says(): Promise<Description> {
  const { healthAnswer } = await import('../core/answers.js')
  return {
    id: 'getHealth',
    does: 'Whether the service is healthy, and its version.',
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
