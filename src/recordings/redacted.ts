/** Removes the secrets from a recorded answer; everything else stays byte for byte. */
import { redactedAnswer } from '../redact/answer.js'
import { createRedact, type NamedSecret, type Redaction, type RedactionRules } from '../redact/index.js'
import { edited, type RecordedResponse, type Recording, recordedBody } from './recording.js'

/** `redaction` is the redaction of the request. */
export function redactedResponse(response: RecordedResponse, redaction: Redaction, path: string): RecordedResponse {
  const { edits, ...redacted } = redactedAnswer({ ...response, body: recordedBody(response) }, redaction, path)
  return { ...response, ...redacted, chunks: edited(response.chunks, edits) }
}

const MULTIPART = /^--\S/
const FORM = /^[^\s=&]+=\S*$/

/** The headers, parameters and fields whose values redaction would replace because of their names. */
export function namedSecretsIn({ request, response }: Recording, rules: RedactionRules): readonly NamedSecret[] {
  const found: NamedSecret[] = []
  const redaction = createRedact(rules, (name, value) => found.push({ name, value }))()
  const { path, query, body } = request
  redaction.query(query)
  if (body.kind === 'json') redaction.value(body.value, path)
  if (body.kind === 'text' || body.kind === 'bytes') {
    const text = body.kind === 'text' ? body.text : body.bytes.toString('latin1')
    const isForm = FORM.test(text) && 'application/x-www-form-urlencoded'
    redaction.form(text, path, MULTIPART.test(text) ? 'multipart/form-data' : isForm || 'text/plain')
  }
  redactedResponse(response, redaction, path)
  return found
}
