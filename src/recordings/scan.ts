/** Finds what is secret by its name in a recording, just as recording it would have. */
import type { Recording } from './recording.js'
import { createRedact, type NamedSecret, type RedactionRules } from './redact/index.js'
import { redactedResponse } from './redacted.js'

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
