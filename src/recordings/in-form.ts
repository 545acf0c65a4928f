/** Brings a recorded answer into the form that a request asks for: a stream or a whole, with usage or without. */
import { streamOf, wholeOf, withUsage } from './assemble/index.js'
import { isStream, type RecordedRequest, type RecordedResponse, type Recording } from './recording.js'

interface Form {
  readonly stream: boolean
  readonly includeUsage: boolean
}

/** Nothing where that cannot be done faithfully. */
export function inForm(asked: RecordedRequest, { request, response }: Recording): RecordedResponse | undefined {
  const [wanted, recorded] = [formOf(asked), formOf(request)]
  const isSame = wanted.stream === recorded.stream && wanted.includeUsage === recorded.includeUsage
  if (isSame || response.status >= 400) return response
  if (!wanted.stream) return wholeOf(response)
  return isStream(response) ? withUsage(response, wanted.includeUsage) : streamOf(response, wanted)
}

function formOf({ body }: RecordedRequest): Form {
  const fields = body.kind === 'json' ? fieldsOf(body.value) : {}
  const stream = fields.stream === true
  return { stream, includeUsage: stream && fieldsOf(fields.stream_options).include_usage === true }
}

const fieldsOf = (value: unknown) =>
  (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
