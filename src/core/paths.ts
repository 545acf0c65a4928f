/** Paths: Standin's own, those that call a model, those that clients know from elsewhere, and patterns with `*` and `?`. */

/** The control API and everything else that is our own. */
export const CONTROL = '/__standin'
/** Where an answer of the hostile model points: what asks there has followed it. */
export const CANARY = `${CONTROL}/canary`
/** The platform's user dashboard. */
export const DASHBOARD = '/dashboard'
/** The auth backend, where Supabase's clients expect it. */
export const AUTH = '/auth/v1'

/** The tables, where Supabase's clients expect them. */
export const REST = '/rest/v1'

/** Marks requests of the dashboard itself, which are neither logged nor kept. */
export const DASHBOARD_HEADER = 'x-standin-dashboard'

/** Marks requests of a test to the control API. */
export const TEST_HEADER = 'x-standin-test'

/** Identifies a request that Standin repeats, until it is journaled. */
export const AGAIN_HEADER = 'x-standin-again'

/** Decodes percent escapes. Returns the text unchanged if they are invalid. */
export function percentDecoded(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const isUnder = (path: string, prefix: string) => path === prefix || path.startsWith(`${prefix}/`)

/** Whether a path is served by Standin itself rather than by the platform or its auth backend. */
export const isReserved = (path: string) => isUnder(path, CONTROL) || isUnder(path, DASHBOARD)

/** Whether a path is a canary, which is journaled and never answered. */
export const isCanary = (path: string) => isUnder(path, CANARY)

/** Whether a path belongs to the control API. */
export const isControl = (path: string) => isUnder(path, CONTROL)

/** Whether a path belongs to the auth backend. */
export const isAuth = (path: string) => isUnder(path, AUTH)

/** Whether a path belongs to the tables. */
export const isRest = (path: string) => isUnder(path, REST)

/** Where OpenAI's API, at any base URL, asks a model of any kind. */
const anyModel = /\/(chat\/completions|completions|embeddings|moderations|responses)\/?$/

/** Whether a request asks a model of any kind. It then has no side effects, so that it may be repeated. */
export const asksAnyModel = (method: string, path: string) => method === 'POST' && anyModel.test(path)

/** The method by which an endpoint is found: HEAD is answered like GET, without the body. */
export const lookupMethod = (method: string) => (method === 'HEAD' ? 'GET' : method)

const CHAT = '/v1/chat/completions'
const chatOnly = (path: string, how: string) => `The platform has no ${path}, only ${CHAT}: use ${how}.`
const anotherApi = (vendor: string) =>
  `This is a path of ${vendor}. The platform has OpenAI's ${CHAT}: use an OpenAI client, with OPENAI_BASE_URL.`
const ruleOrRecording = (path: string) =>
  `A rule can answer it (on: POST ${path}), and standin record asks the live platform and records its answer.`
const noService = (path: string, what: string) =>
  `Of Supabase, the platform has only Auth: there is nothing at ${path}. ${what}`

/** A path, and what to do about it. The named group `name` is the part that the sentence repeats. */
type KnownElsewhere = readonly [path: RegExp, says: (name: string) => string]

const knownElsewhere: readonly KnownElsewhere[] = [
  [
    /^\/rest\/v1(?:\/|$)/,
    () =>
      'There are no tables here. With your migrations in supabase/migrations and npm install --save-dev @electric-sql/pglite, Standin answers /rest/v1 from them.',
  ],
  [
    /^\/functions\/v1(?:\/|$)/,
    () => noService('/functions/v1', 'A rule can answer a function: on: POST /functions/v1/NAME.'),
  ],
  [/^(?<name>\/(?:storage|graphql)\/v1)(?:\/|$)/, name => noService(name, 'A rule can answer one of its paths.')],
  [/^\/realtime\/v1(?:\/|$)/, () => noService('/realtime/v1', 'Channels do not connect.')],
  [
    /^(?:\/api)?(?:\/v1)*\/responses(?:\/|$)/,
    () =>
      chatOnly(
        '/v1/responses',
        "client.chat.completions (openai), openai.chat(model) (AI SDK), useResponsesApi: false (LangChain) or setOpenAIAPI('chat_completions') (@openai/agents)",
      ),
  ],
  [
    /^(?:\/api)?(?:\/v1)*\/completions(?:\/|$)/,
    () =>
      chatOnly(
        '/v1/completions',
        'client.chat.completions (openai), openai.chat(model) (AI SDK) or ChatOpenAI (LangChain)',
      ),
  ],
  [
    /^(?:\/api)?(?:\/v1)*\/(?<name>embeddings|conversations|assistants|threads|files|uploads|batches|images|audio|moderations|fine_tuning|vector_stores|realtime|videos|evals)(?:\/|$)/,
    name => `The platform has no /v1/${name}. ${ruleOrRecording(`/v1/${name}`)}`,
  ],
  [/^\/v1(?:beta|alpha)?\/models\/[^/]+:/, () => anotherApi('Gemini')],
  [/^\/v1\/models\/./, () => 'Models have no paths of their own. GET /v1/models lists them.'],
  // Clients append their paths to the base URL that they are given.
  [
    /^(?:\/api\/v1|\/openai(?:\/v1)?|\/v1(?:\/v1)+)?(?<name>\/chat\/completions|\/models)$/,
    name => `Did you mean /v1${name}? The base URL of an OpenAI client ends in /v1, once: use OPENAI_BASE_URL.`,
  ],
  [/^(?:\/v1)*\/messages(?:\/|$)/, () => anotherApi('Anthropic')],
  [/^\/api\/(?:chat|generate|tags|embed)$/, () => anotherApi('Ollama')],
  [/^\/openai\/deployments\//, () => anotherApi('Azure')],
]

/** What to do about a request to this path; `undefined` if nobody is known to have it. */
export function unknownPathAdvice(path: string): string | undefined {
  for (const [pattern, says] of knownElsewhere) {
    const found = pattern.exec(path)
    if (found) return says(found.groups?.name ?? '')
  }
  return undefined
}

/** Patterns in which `*` matches anything, slashes included, and `?` matches one character. */
interface Pattern {
  test(name: string): boolean
}

/** Creates a pattern that matches whole names. The time for a match does not grow with the number of stars. */
export function glob(text: string): Pattern {
  const [first = '', ...rest] = text.split(/\*+/)
  const last = rest.pop()
  if (last === undefined) return new RegExp(`^${escaped(first)}$`, 's')
  const around = new RegExp(`^${escaped(first)}.*${escaped(last)}$`, 's')
  if (rest.length === 0) return around
  const between = rest.map(part => new RegExp(escaped(part), 'gs'))
  return {
    test(name) {
      if (!around.test(name)) return false
      let place = first.length
      // Takes the first occurrence of each part: if the rest does not match after that, it matches after no other.
      for (const part of between) {
        part.lastIndex = place
        if (!part.test(name)) return false
        place = part.lastIndex
      }
      return place <= name.length - last.length
    },
  }
}

const escaped = (part: string) => part.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('?', '.')
