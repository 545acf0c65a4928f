/** Answers with a stream of what was recorded whole. */
import { bodyOf, isStream, type RecordedResponse } from '../recording.js'
import { type Completion, completionIn } from './forms.js'
import { isRefused, withBody } from './response.js'
import { stepsOf } from './steps.js'
import { withUsage } from './usage.js'

/** As in a request's stream_options. */
interface StreamOptions {
  readonly includeUsage: boolean
}

/**
 * The events that the platform would have said in place of this completion, all of them when that was there. An error is the answer
 * of either form, and comes back as it is; a stream with or without its usage, as it is asked for. `undefined` for what is no whole
 * chat completion, and for a stream that lacks the usage.
 */
export function streamOf(response: RecordedResponse, options: StreamOptions): RecordedResponse | undefined {
  if (isRefused(response)) return response
  if (isStream(response)) return withUsage(response, options.includeUsage)
  const completion = response.complete ? completionIn(bodyOf(response)) : undefined
  return completion && withBody(response, 'text/event-stream; charset=utf-8', [...framed(completion, options)])
}

function* framed(completion: Completion, { includeUsage }: StreamOptions): Generator<string> {
  const { id, object: _, created, model, service_tier, system_fingerprint, choices, usage, ...others } = completion
  const tellsUsage = includeUsage && usage
  const event = (said: object) => `data: ${JSON.stringify(said)}\n\n`
  const around = { id, object: 'chat.completion.chunk', created, model, service_tier, system_fingerprint }
  // OpenAI's reference on include_usage: every event has the key, and it is null but in the last.
  const unused = tellsUsage ? { usage: null } : {}
  // What else a vendor says is told once.
  let once: object = others

  const tracks = choices.map((choice, i) => stepsOf({ ...choice, index: choice.index ?? i }))
  const turns = Math.max(...tracks.map(({ length }) => length))
  for (let turn = 0; turn < turns; turn++) {
    for (const step of tracks.flatMap(track => track[turn] ?? [])) {
      yield event({ ...around, ...once, choices: [step], ...unused })
      once = {}
    }
  }
  if (tellsUsage) yield event({ ...around, choices: [], usage })
  yield 'data: [DONE]\n\n'
}
