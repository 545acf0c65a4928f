/** Removes the secrets from a recorded answer; everything else stays byte for byte. */
import { createRedact, type KnownSecret, type Redaction, type RedactionRules } from '../redact/index.js'
import type { RecordedResponse, Recording } from './recording.js'

/** `requestRedaction` is the redaction of the request. Secrets that the answer introduces are removed from its body too. */
export function redactedResponse(
  response: RecordedResponse,
  requestRedaction: Redaction,
  path: string,
): RecordedResponse {
  const { headers, statusText } = response
  const redaction = requestRedaction.withSecretsOf({ headers })
  const contentType = headers.find(([name]) => name === 'content-type')?.[1]
  const chunks = redaction.chunks(response.chunks, path, contentType)
  const redacted = redaction.headers(headers.flat())
  return {
    ...response,
    ...(statusText !== undefined && { statusText: redaction.text(statusText) }),
    headers: headers.map(([name], i) => [name, redacted[2 * i + 1] ?? '']),
    chunks,
  }
}

const MULTIPART = /^--\S/
const FORM = /^[^\s=&]+=\S*$/

/** What redaction would replace in a recording. */
export function secretsInRecording({ request, response }: Recording, rules: RedactionRules): readonly KnownSecret[] {
  const found: KnownSecret[] = []
  const redaction = createRedact(rules, secret => found.push(secret))()
  const { path, query, body, condition = {} } = request
  redaction.text(path)
  redaction.query(query)
  for (const value of Object.values(condition)) redaction.text(value)
  if (body.kind === 'json') redaction.value(body.value, path)
  if (body.kind === 'text' || body.kind === 'bytes') {
    const bytes = body.kind === 'text' ? Buffer.from(body.text) : body.bytes
    const text = bytes.toString('latin1')
    const isForm = FORM.test(text) && 'application/x-www-form-urlencoded'
    redaction.chunks([{ bytes }], path, MULTIPART.test(text) ? 'multipart/form-data' : isForm || 'text/plain')
  }
  redactedResponse(response, redaction, path)
  return found
}
