/** An answer as it is compared with that of another target: its shape, and whether it fits the schema. */
import {
  completionAnswer,
  errorAnswer,
  healthAnswer,
  indexAnswer,
  modelsAnswer,
  notFoundAnswer,
} from '../core/answers.js'
import { type AnswerShape, shapeOfAnswer } from '../recordings/index.js'
import type { Answered } from './call.js'
import { chunkMistake } from './events.js'
import { jsonIn, mistakesOf } from './looks.js'
import type { Target } from './target.js'

export interface ComparedAnswer {
  readonly shape: AnswerShape
  /** In what it does not fit the schema. */
  readonly misfit: string | undefined
}

/** By the names of their calls. What passes (429, and failures of the target) is left out. */
export async function answersOf(target: Target): Promise<ReadonlyMap<string, ComparedAnswer>> {
  const found = new Map<string, ComparedAnswer>()
  for (const [name, heard] of await target.heard()) {
    if (heard.kind === 'unanswered' || heard.status === 429 || heard.status >= 500) continue
    const misfit = misfitOf(name, heard)
    found.set(name, { shape: shapeOf(heard), misfit: misfit && target.clean(misfit) })
  }
  return found
}

function shapeOf({ status, headers, text }: Answered): AnswerShape {
  const chunks = text === '' ? [] : [{ atMs: 0, bytes: Buffer.from(text) }]
  return shapeOfAnswer({ status, headers: [...headers], chunks })
}

const schemas = [
  ['GET /health ', healthAnswer],
  ['GET /api/v1 ', indexAnswer],
  ['GET /v1/models', modelsAnswer],
  ['POST /v1/chat/completions ', completionAnswer],
] as const

/** Of answers for which there is no schema nothing is said. */
function misfitOf(name: string, { status, headers, text }: Answered): string | undefined {
  if (name.includes(' /auth/v1/')) return undefined
  const isStream = /^text\/event-stream/i.test(headers.get('content-type') ?? '')
  if (status === 200 && isStream) return chunkMistake(text)
  const schema = status === 404 ? notFoundAnswer : status >= 400 ? errorAnswer : schemaOf(name, status)
  if (!schema) return undefined
  const { value, why } = jsonIn(text)
  return why === undefined ? mistakesOf(schema, value) : 'The body is not JSON.'
}

const schemaOf = (name: string, status: number) =>
  status === 200 ? schemas.find(([start]) => name.startsWith(start))?.[1] : undefined
