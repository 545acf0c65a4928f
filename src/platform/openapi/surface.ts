/** The sections of the document (platform, auth backend), and what all operations of a section share. */
import type { EndpointDescription, JsonSchema } from '../../core/exchange.js'

/** What differs between sections: their errors, and their access. */
type DocumentPart = 'platform' | 'auth'

/** An operation and its position. */
export interface PlacedOperation {
  readonly part: DocumentPart
  readonly method: string
  /** The full path. */
  readonly path: string
  readonly operation: EndpointDescription
  /** Any one of these gives access. If the list is empty, no credential is needed. */
  readonly security: readonly Readonly<Record<string, readonly never[]>>[]
}

/** The description of each section. */
export const tags: readonly { readonly name: DocumentPart; readonly description: string }[] = [
  { name: 'platform', description: "The platform's own endpoints, documented in platform-api.md." },
  { name: 'auth', description: 'The auth backend: Supabase Auth as a self-hosted platform runs it.' },
]

/** One error: its meaning, and the section of platform-api.md that defines it. */
interface DocumentedError {
  readonly what: string
  readonly section?: string
}

const internalError: DocumentedError = { what: 'Something went wrong inside Standin.' }

/** The statuses of errors that an operation may answer with. */
export function errorsOf({ part, operation, security }: PlacedOperation): Readonly<Record<string, DocumentedError>> {
  const own = Object.entries(operation.errors ?? {}).map(([status, what]) => [status, { what }] as const)
  return {
    ...commonErrors[part]({ hasBody: operation.body !== undefined, security }),
    ...Object.fromEntries(own),
  }
}

interface Facts extends Pick<PlacedOperation, 'security'> {
  readonly hasBody: boolean
}

const commonErrors: Readonly<Record<DocumentPart, (facts: Facts) => Readonly<Record<string, DocumentedError>>>> = {
  platform: ({ hasBody, security }) => ({
    400: { what: 'The request cannot be read, or asks for something that is not possible.' },
    ...(security.length > 0 && { 401: { what: 'The credential is missing or invalid.', section: 'Authentication' } }),
    404: {
      what: 'The path does not exist. For a path of this document, only the live platform answers so.',
      section: 'Errors',
    },
    408: { what: 'The request took too long to arrive.' },
    ...(hasBody && {
      413: { what: 'The body is too large.' },
      415: { what: 'The body is not JSON by its headers.' },
    }),
    417: { what: 'An expectation other than 100-continue cannot be met.' },
    424: { what: 'No recording matches the request, or no rule if strict is on.' },
    429: { what: 'The limits of the credential are used up; `retry-after` says when to try again.' },
    431: { what: 'The headers are too large.' },
    500: internalError,
    502: { what: 'The live platform cannot be reached, or its answer cannot be read.' },
    504: { what: 'The live platform does not answer in time.' },
    default: { what: 'Any other error: a requested fault, or an error of the live platform.', section: 'Errors' },
  }),
  auth: ({ hasBody }) => ({
    400: { what: 'The request is invalid or not allowed.' },
    401: { what: 'The key for the gateway or the token is missing or invalid.' },
    403: { what: 'The token is invalid or has expired, or does not give access to this.' },
    404: { what: 'Not found, or switched off here.' },
    ...(hasBody && { 413: { what: 'The body is too large.' } }),
    417: { what: 'An expectation other than 100-continue cannot be met.' },
    422: { what: 'The request was understood, but cannot be carried out.' },
    429: { what: 'Too many requests. Sent only as a fault.' },
    500: internalError,
  }),
}

/** The schemas of errors, by name. */
export const errorSchemaName = (part: DocumentPart, status: string): string => {
  if (part === 'auth') return 'AuthError'
  return part === 'platform' && status === '404' ? 'NotFound' : 'Error'
}

export const securitySchemes: Readonly<Record<string, JsonSchema>> = {
  apiKey: bearer('An API key that a signed-in developer has created in the dashboard.', 'Authentication'),
  anon: bearer('The key of the anonymous role.', 'Authentication'),
  user: bearer('The JWT of a user who has signed in at the auth backend.', 'Authentication'),
  service: bearer('The key of the service role.'),
  gatewayKey: {
    type: 'apiKey',
    in: 'header',
    name: 'apikey',
    description: 'The anon or the service key, for the gateway in front of the auth backend.',
    'x-standin-source': 'decided',
  },
}

function bearer(description: string, section?: string): JsonSchema {
  return { type: 'http', scheme: 'bearer', description, ...sourceOf(section) }
}

/** Distinguishes what platform-api.md says from our own decisions. */
export function sourceOf(section: string | undefined): JsonSchema {
  if (section === undefined) return { 'x-standin-source': 'decided' }
  return { 'x-standin-source': 'documented', 'x-standin-section': section }
}
