/** GET /health: whether the service is up, and its version (platform-api.md, "Health response"). */
import * as v from 'valibot'
import type { AnswerBody } from '../chat/completion.js'
import { only, open, text } from '../check/forms.js'
import type { DocumentedEndpoint } from '../core/exchange.js'
import { fixedReply } from '../core/reply.js'

/** Documented: dotted numeric, three parts. */
const healthAnswer = open({
  status: only('ok'),
  version: v.pipe(text, v.regex(/^\d+\.\d+\.\d+$/, 'three numbers separated by dots')),
})

export const health = {
  name: 'health',
  method: 'GET',
  path: '/health',
  access: 'anyone',
  isUnlimited: true,
  answer: { form: healthAnswer, section: 'Health response (JSON)', isDocumented: true },
  clause: 'EP-1',
  replyWith: ({ version }: { readonly version: string }) =>
    fixedReply({ status: 'ok', version } satisfies AnswerBody<v.InferInput<typeof healthAnswer>>),
} as const satisfies DocumentedEndpoint
