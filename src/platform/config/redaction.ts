/** Turns the configuration into rules for redacting secrets. */
import { expressionIn } from '../../check/expressions.js'
import { developmentSecret } from '../../core/secrets.js'
import type { RedactionRules } from '../../recordings/redact/index.js'
import type { Config } from './schema.js'

type Redact = Config['recordings']['redact']

/** Includes the public development keys, since no credential of a caller belongs in a recording. */
export function redactionRules({ recordings, upstream, apiKeys, auth, controlToken }: Config): RedactionRules {
  const { redact } = recordings
  const secrets = [
    { name: 'upstream-api-key', value: upstream.apiKey },
    { name: 'upstream-anon-key', value: upstream.anonKey },
    ...apiKeys.map(({ key }) => ({ name: 'api-key', value: key })),
    { name: 'publishable-key', value: auth.publishableKey },
    { name: 'secret-key', value: auth.secretKey },
    { name: 'control-token', value: controlToken },
    // The secret itself is never shown. The development one is public.
    { name: 'jwt-secret', value: auth.jwtSecret === developmentSecret ? '' : auth.jwtSecret },
  ]
  return {
    names: redact.names,
    emails: redact.patterns.includes('emails'),
    patterns: redact.patterns.filter(pattern => pattern !== 'emails').map(namedPattern),
    known: secrets.filter(({ value }) => value !== ''),
  }
}

function namedPattern(written: Redact['patterns'][number]): RedactionRules['patterns'][number] {
  const { name = 'secret', pattern } = typeof written === 'string' ? { pattern: written } : written
  // The schema has checked that it is one.
  return { name, pattern: expressionIn(pattern) as RegExp }
}
