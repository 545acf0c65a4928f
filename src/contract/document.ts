/** The platform's document, sentence by sentence: the clauses that check each, or why none does. */
import { glob } from '../core/paths.js'

const title = 'a title'
const heading = 'the header of a table'
const listIntroduction = 'it introduces a list; the items have clauses of their own'
const leftOpen = 'the document leaves it open, and Standin decides nothing about it'

/** The clauses that check a sentence; `*` matches anything. */
const by = (ids: string) => ids.split(' ').map(glob)

/** Every heading, row and sentence, verbatim. */
const document: Readonly<Record<string, Readonly<Record<string, string | ReturnType<typeof by>>>>> = {
  preamble: {
    '# AI Platform API Specification': title,
    'This document covers all nine parts for the service: what it does, resources, states, endpoints, authentication, events, errors, limits and versioning.':
      'it is about the document',
    'Base address: {base_url}.': by('EP-1'),
    'The authentication backend is at {auth_url}.': by('AUTH-2'),
  },
  'What the service does': {
    'The service is a platform that runs a suite of AI-powered products behind one domain.':
      'the products are not shown',
    'The products communicate through a shared API layer.': "it is about the platform's internals",
    'The platform is backed by a self-hosted backend that provides a database and user authentication.': by('AUTH-2'),
    'The API exposes:': listIntroduction,
    'A health check.': by('EP-1'),
    'An API index that lists endpoints.': by('EP-2'),
    'A chat completion operation for a hosted large language model (messages in, generated reply out).': by('EP-3'),
    'A listing of available models.': by('EP-4'),
    'A developer signs in to a user dashboard and generates an API key.':
      'it would create a key, and the contract changes nothing; EP-3 and EP-4 check what a key is accepted for',
    'The key connects an application to the chat assistant, the language model, tool-protocol (MCP) tools and builder services.':
      'of these, the document describes only the language model, which EP-3 and EP-4 check',
    'Products in the suite, the behaviour of builder services and the behaviour of tool-protocol tools: not shown.':
      leftOpen,
  },
  'Resources and their fields': {
    '### Chat completion request (JSON body)': title,
    '| Field | Type | Notes |': heading,
    '| model | string | Identifier of a model, <model_id>. Valid identifiers are those the model listing returns. |':
      by('MODELS-2 CHAT-2.1 CHAT-2.2'),
    '| messages | array of message objects | Conversation, in order. |': by('CHAT-3'),
    '| messages[].role | string | Values used: system, user. |': by('CHAT-3'),
    '| messages[].content | string | Text of the message. |': by('CHAT-3'),
    '| temperature | number | Sampling temperature. |': by('CHAT-4'),
    '| stream | boolean | false requests a single, non-streamed response. |': by('CHAT-1 CHAT-5'),
    'Required or optional status, defaults and bounds of request fields: not shown.': by(
      'CHAT-D5 CHAT-D20 CHAT-D6 CHAT-D7 CHAT-D8 CHAT-D9 CHAT-D10 CHAT-D11 CHAT-D12 CHAT-D13 CHAT-D14 CHAT-D15',
    ),
    'Chat completion response fields: not shown.': by('CHAT-D1'),
    '### Model list': title,
    'Model list response fields: not shown.': by('MODELS-D1'),
    '### Health response (JSON)': by('HEALTH-1'),
    '| status | string | Value ok when healthy. |': by('HEALTH-2'),
    '| version | string | Service version in dotted numeric form <major.minor.patch>. |': by('HEALTH-3'),
    '### API index response (JSON)': by('INDEX-1'),
    '| status | string | Value ok. |': by('INDEX-2'),
    '| endpoints | array | List of endpoints. |': by('INDEX-3'),
    'Elements of the endpoints array: not shown.': by('INDEX-D1 INDEX-D2'),
    '### Error object (JSON)': title,
    '| error | string | Short error message. Always present. |': by('ERR-2 ERR-4'),
    '| path | string | Request path. Present on the not-found error. |': by('ERR-3'),
  },
  'States and transitions': {
    'No states are named.': 'there is nothing to check',
    'Transitions: not shown.': leftOpen,
  },
  Endpoints: {
    '| Method | Path | Request payload | Response payload |': heading,
    '| GET | /health | none | Health response object |': by('EP-1'),
    '| GET | /api/v1 | none | API index response object |': by('EP-2'),
    '| POST | /v1/chat/completions | JSON chat completion request; header Content-Type: application/json | Chat completion result (JSON) |':
      by('EP-3'),
    '| GET | /v1/models | none | Model list (JSON) |': by('EP-4 MODELS-1'),
    'Rules:': listIntroduction,
    'All paths are relative to {base_url}.': by('EP-1'),
    'Chat completion and model listing carry the header Authorization: Bearer <API_KEY>.': by('EP-4 EP-3'),
    'GET /api/v1 is called with Authorization: Bearer <ANON_KEY>.': by('EP-2'),
    'When stream is false, the reply is one JSON response.': by('CHAT-1'),
    'Streaming response format when stream is true: not shown.': by('CHAT-D2 CHAT-D3 CHAT-D4'),
    'Query parameters and pagination for the model list: not shown.': by('MODELS-D2'),
    'Whether the health check requires authentication: not shown.': by('HEALTH-D1'),
  },
  Authentication: {
    'The platform states that every endpoint requires a valid JWT issued by its authentication backend.':
      by('AUTH-1.*'),
    "The JWT is obtained by signing in with an email and password through the backend's client library (a sign-in-with-password operation taking email and password).":
      by('AUTH-2'),
    'Requests carry the header Authorization with the value Bearer followed by a credential.': by('EP-4 AUTH-3.*'),
    'The platform API (/api/v1) accepts an anonymous-role key, <ANON_KEY>, in the bearer position.': by('EP-2'),
    'The language model API (/v1/...) accepts an API key, <API_KEY>, generated by a signed-in developer in the user dashboard.':
      by('EP-4'),
    'A missing or invalid credential yields HTTP 401 with body containing error.': by('AUTH-6.*'),
    'Sign-in endpoint paths, token lifetime, refresh, and scopes of API keys: not shown.': by('AUTH-D1 AUTH-D2'),
    'Which credential type is accepted on which endpoint beyond the rules above: not shown.': by(
      'AUTH-D3 AUTH-D4 AUTH-D5 AUTH-D6 ERR-D1',
    ),
  },
  Events: {
    'Events: not shown.': leftOpen,
  },
  Errors: {
    'All errors are JSON objects with an error field and carry an HTTP status code.': by('ERR-2 ERR-4 ERR-5'),
    'Standard REST conventions apply.': by('ERR-5'),
    '| HTTP status | Condition | Body shape |': heading,
    '| 404 | Path does not exist | { error: <string>, path: <requested path> } |': by('ERR-1.* ERR-2 ERR-3'),
    '| 401 | Credential missing or invalid | { error: <string> } |': by('AUTH-6.* ERR-4'),
    'Error codes other than 404 and 401, and error bodies for invalid chat requests: not shown.': by(
      'CHAT-D6 CHAT-D7 CHAT-D8 CHAT-D9 CHAT-D10 CHAT-D11 CHAT-D12 CHAT-D13 CHAT-D14 CHAT-D15 CHAT-D16 CHAT-D17 CHAT-D18 CHAT-D19 ERR-D1 ERR-D2 ERR-D3 ERR-D4 ERR-D5',
    ),
  },
  Limits: {
    'Rate limits, request size limits and token limits: not shown.': by('LIMIT-D1'),
  },
  Versioning: {
    'The platform API lives under the path prefix /api/v1.': by('EP-2'),
    'The language model API lives under the path prefix /v1.': by('EP-4'),
    'The health response carries a version string field.': by('HEALTH-3'),
    'Version policy, deprecation rules and how the health version relates to path prefixes: not shown.': leftOpen,
  },
}

/** The headings that have clauses, and a section for what the document does not mention, as they are reported. */
export const sections = [
  'Resources and their fields',
  'Endpoints',
  'Authentication',
  'Errors',
  'Limits',
  'Beyond the document',
] as const

export type Section = (typeof sections)[number]

export interface UncheckedStatement {
  /** Verbatim. */
  readonly quote: string
  readonly why: string
}

/** Statements that cannot be checked from outside, and why not. */
export const silent: readonly UncheckedStatement[] = Object.entries(document).flatMap(([section, sentences]) => [
  ...(section === 'preamble' ? [] : [{ quote: `## ${section}`, why: title }]),
  ...Object.entries(sentences).flatMap(([quote, why]) => (typeof why === 'string' ? [{ quote, why }] : [])),
])

/** The sentences that a clause follows from, by section. For a decision of Standin, those that leave it open. */
const quotesFrom = (id: string, section: string): readonly string[] =>
  Object.entries(document[section] ?? {}).flatMap(([quote, ids]) =>
    typeof ids !== 'string' && ids.some(pattern => pattern.test(id)) ? [quote] : [],
  )

/** The sentences that a clause follows from, and the section that it belongs to: the first one in this order. */
export function placeInDocument(id: string): { readonly section: Section; readonly quotes: readonly string[] } {
  const bySection = Object.keys(document).map(section => ({ section, quotes: quotesFrom(id, section) }))
  const order: readonly Section[] = id.startsWith('ERR-') ? ['Errors'] : ['Endpoints', ...sections]
  const section = order.find(name => bySection.some(one => one.section === name && one.quotes.length > 0))
  return { section: section ?? 'Beyond the document', quotes: bySection.flatMap(({ quotes }) => quotes) }
}
