/** What may be wrong with a target, clause by clause: each answers correctly, except for one thing. */
import type { Answer, Change, TargetRequest } from './breaking.js'

const CHAT = '/v1/chat/completions'
const TOKEN = '/auth/v1/token'

const json = { 'content-type': 'application/json' }
const ok: Answer = { status: 200, headers: json, text: '{}' }
const failed = (status: number, error = 'No.'): Answer => ({ status, headers: json, text: JSON.stringify({ error }) })

type When = (request: TargetRequest, answer: Answer) => boolean

const change =
  (when: When, to: (answer: Answer, request: TargetRequest) => Answer): Change =>
  (request, answer) =>
    when(request, answer) ? to(answer, request) : undefined

// biome-ignore lint/suspicious/noExplicitAny: the fields of any body
type Fields = any

/** The body with other fields; an undefined field is removed. */
const withFields =
  (fields: Readonly<Record<string, unknown>> | ((body: Fields) => Readonly<Record<string, unknown>>)) =>
  (answer: Answer): Answer => {
    const body = JSON.parse(answer.text)
    return { ...answer, text: JSON.stringify({ ...body, ...(typeof fields === 'function' ? fields(body) : fields) }) }
  }

const withHeader =
  (name: string, value: string) =>
  (answer: Answer): Answer => ({ ...answer, headers: { ...answer.headers, [name]: value } })

const withoutHeader =
  (name: string) =>
  ({ headers: { [name]: _gone, ...headers }, ...answer }: Answer): Answer => ({ ...answer, headers })

const withText =
  (edit: (text: string) => string) =>
  (answer: Answer): Answer => ({ ...answer, text: edit(answer.text) })

const edited = (when: When, edit: (text: string) => string) => change(when, withText(edit))
const changing = (when: When, fields: Parameters<typeof withFields>[0]) => change(when, withFields(fields))
const failing = (when: When, status: number, error?: string) => change(when, () => failed(status, error))

const to =
  (path: string, status?: number): When =>
  (request, answer) =>
    request.path === path && (status === undefined || answer.status === status)

const both =
  (...all: readonly When[]): When =>
  (request, answer) =>
    all.every(when => when(request, answer))

const holding =
  (key: TargetRequest['key']): When =>
  request =>
    request.key === key
const chatWith = (fits: (body: TargetRequest['body']) => boolean): When =>
  both(to(CHAT), ({ body, text }) => text.startsWith('{"') && fits(body))
const unknown = (path: string) => to(`${path}/there-is-no-such-path`, 404)

const isGet: When = ({ method }) => method === 'GET'
const isPost: When = ({ method }) => method === 'POST'

const html = withHeader('content-type', 'text/html')
const messagesOf = ({ messages }: TargetRequest['body']) =>
  Array.isArray(messages) ? (messages as { role: unknown; content: unknown }[]) : []

const unlisted = both(to(CHAT, 400), ({ body }) => body.model === 'there-is-no-such-model')
const chatted = both(to(CHAT, 200), holding('api'))
const whole = both(chatted, ({ body }) => body.stream === false)
const streamed = both(chatted, ({ body }) => body.stream === true)

/** An invalid chat request is accepted, or refused without a useful message. */
const lenient = (fits: (body: TargetRequest['body']) => boolean): readonly Change[] => {
  const refused = both(chatWith(fits), (_, { status }) => status === 400)
  return [change(refused, () => ok), change(refused, withFields({ error: 'Unprocessable.' }))]
}

const isForged: When = ({ authorization }) => /^Bearer ey[\w-]+\.[\w-]+\.[\w-]+$/.test(authorization)
const isUnsigned: When = ({ authorization }) => /^Bearer ey[\w-]+\.[\w-]+\.$/.test(authorization)
/** Whether the token claims this role. */
const claims =
  (role: string): When =>
  ({ authorization }) =>
    Buffer.from(authorization.split('.')[1] ?? '', 'base64url')
      .toString()
      .includes(`"role":"${role}"`)
const isRefused: When = (_, { status }) => status === 401

/** Accepts what must be refused. */
const letsIn = (path: string, when: When) => change(both(to(path, 401), when), () => ok)

const noKey: When = both(holding('none'))
const unknownKey: When = ({ authorization }) => authorization.startsWith('Bearer sk-no-such')

/** A chat request with this property is refused. */
const refusing = (fits: (body: TargetRequest['body']) => boolean): Change =>
  failing(
    both(chatted, ({ body }) => fits(body)),
    400,
  )

const openAIs = withFields(({ error }) => ({ error: { message: error, type: 'invalid_request_error' } }))
const noError = withFields(({ error }) => ({ error: undefined, message: error }))

/** For each clause, the targets that must break it and no other. */
export const broken: Readonly<Record<string, readonly Change[]>> = {
  'EP-1': [change(to('/health'), () => failed(500)), change(to('/health'), () => failed(404))],
  'HEALTH-1': [change(to('/health'), html), edited(to('/health'), text => `[${text}]`)],
  'HEALTH-2': [change(to('/health'), withFields({ status: 'healthy' }))],
  'HEALTH-3': [change(to('/health'), withFields({ version: '1.0' }))],
  'HEALTH-D1': [change(both(to('/health'), noKey), () => failed(401))],
  'EP-2': [change(both(to('/api/v1'), holding('anon')), () => failed(401))],
  'INDEX-1': [change(to('/api/v1', 200), html)],
  'INDEX-2': [change(to('/api/v1', 200), withFields({ status: 'up' }))],
  'INDEX-3': [change(to('/api/v1', 200), withFields({ endpoints: {} }))],
  'INDEX-D1': [change(to('/api/v1', 200), withFields({ endpoints: ['/health'] }))],
  'INDEX-D2': [changing(to('/api/v1', 200), ({ endpoints }) => ({ endpoints: endpoints.slice(1) }))],
  'EP-4': [change(both(to('/v1/models'), holding('api')), () => failed(403))],
  'MODELS-1': [change(to('/v1/models', 200), html)],
  'MODELS-2': [change(to('/v1/models', 200), withFields({ data: [] }))],
  'MODELS-D1': [
    change(to('/v1/models', 200), withFields({ object: 'models' })),
    edited(to('/v1/models', 200), text => JSON.stringify(JSON.parse(text).data)),
  ],
  'MODELS-D2': [changing(to('/v1/models?limit=1', 200), ({ data }) => ({ data: data.slice(0, 1) }))],
  'EP-3': [change(chatted, () => failed(500))],
  'CHAT-1': [change(whole, withHeader('content-type', 'text/event-stream'))],
  'CHAT-2.1': [
    change(
      chatWith(({ model }) => model === 'there-is-no-such-model'),
      answer => (answer.status === 400 ? ok : answer),
    ),
    failing(unlisted, 401),
  ],
  'CHAT-2.2': [refusing(body => body.model !== 'gpt-4o-mini')],
  'CHAT-3': [refusing(body => messagesOf(body).some(({ role }) => role === 'system'))],
  'CHAT-4': [refusing(body => body.temperature !== undefined)],
  'CHAT-5': [change(streamed, () => failed(400))],
  'CHAT-D1': [change(whole, withFields({ choices: [] })), edited(whole, text => `[${text}]`)],
  'CHAT-D2': [change(streamed, withHeader('content-type', 'application/json'))],
  'CHAT-D3': [
    edited(streamed, text => text.replaceAll('chat.completion.chunk', 'chunk')),
    edited(streamed, () => 'data: [DONE]\n\n'),
  ],
  'CHAT-D4': [edited(streamed, text => text.replace('data: [DONE]\n\n', ''))],
  'CHAT-D5': [refusing(body => body.max_tokens !== undefined)],
  'CHAT-D20': [
    change(
      both(chatted, ({ body }) => body.stream === undefined),
      withHeader('content-type', 'text/event-stream'),
    ),
    refusing(body => body.stream === undefined),
  ],
  'CHAT-D6': lenient(({ model }) => model === undefined),
  'CHAT-D7': lenient(({ messages }) => messages === undefined),
  'CHAT-D8': lenient(({ messages }) => Array.isArray(messages) && messages.length === 0),
  'CHAT-D9': lenient(({ temperature }) => temperature === 2.1),
  'CHAT-D10': lenient(({ model }) => model === 1),
  'CHAT-D11': lenient(({ messages }) => typeof messages === 'string'),
  'CHAT-D12': lenient(body => messagesOf(body).some(({ role }) => role === 1)),
  'CHAT-D13': lenient(body => messagesOf(body).some(({ content }) => content === 1)),
  'CHAT-D14': lenient(({ temperature }) => temperature === 'warm'),
  'CHAT-D15': lenient(({ stream }) => stream === 'yes'),
  'CHAT-D16': [change(unlisted, answer => ({ ...answer, status: 422 }))],
  'CHAT-D17': [failing(unlisted, 400, 'No such model.')],
  'CHAT-D18': [
    failing(
      both(to(CHAT), ({ text }) => text === '{'),
      500,
    ),
  ],
  'CHAT-D19': [change(to(CHAT, 415), () => ok)],
  'AUTH-1.1': [letsIn('/api/v1', both(isForged, claims('anon')))],
  'AUTH-1.2': [letsIn('/api/v1', isUnsigned)],
  'AUTH-1.3': [letsIn('/v1/models', both(isForged, claims('authenticated')))],
  'AUTH-1.4': [letsIn(CHAT, both(isForged, claims('authenticated')))],
  'AUTH-1.5': [letsIn('/api/v1', both(isForged, claims('authenticated')))],
  'AUTH-1.6': [letsIn('/v1/models', isUnsigned)],
  'AUTH-1.7': [letsIn(CHAT, isUnsigned)],
  'AUTH-2': [change(({ path }) => path.startsWith(TOKEN), withFields({ access_token: undefined }))],
  'AUTH-3.1': [letsIn('/v1/models', ({ authorization }) => authorization.startsWith('sk-'))],
  'AUTH-3.2': [letsIn('/api/v1', ({ authorization }) => authorization.startsWith('Basic '))],
  'AUTH-3.3': [letsIn(CHAT, ({ authorization }) => authorization.startsWith('sk-'))],
  'AUTH-6.1': [letsIn('/api/v1', noKey)],
  'AUTH-6.2': [letsIn('/api/v1', unknownKey)],
  'AUTH-6.3': [letsIn('/v1/models', noKey)],
  'AUTH-6.4': [letsIn('/v1/models', unknownKey)],
  'AUTH-6.5': [letsIn(CHAT, noKey)],
  'AUTH-6.6': [letsIn(CHAT, unknownKey)],
  'AUTH-6.7': [letsIn('/v1/models', ({ authorization }) => authorization === 'Bearer')],
  'AUTH-D1': [failing(({ path }) => path.startsWith(TOKEN), 404)],
  'AUTH-D2': [change(({ path }) => path.startsWith(TOKEN), withFields({ expires_in: 60 }))],
  'AUTH-D3': [change(both(to('/api/v1', 200), holding('other')), () => failed(401))],
  'AUTH-D4': [change(both(to('/v1/models', 200), holding('other')), () => failed(401))],
  'AUTH-D5': [letsIn('/v1/models', holding('anon'))],
  'AUTH-D6': [letsIn('/api/v1', holding('api'))],
  'ERR-1.1': [change(both(unknown('/v1'), isGet), () => ok)],
  'ERR-1.2': [change(unknown('/api/v1'), () => ok)],
  'ERR-1.3': [change(unknown(''), () => ok)],
  'ERR-1.4': [change(unknown('/health'), () => ok)],
  'ERR-1.5': [change(both(unknown('/v1'), isPost), () => ok)],
  'ERR-2': [
    change((_, { status }) => status === 404, noError),
    change((_, { status }) => status === 404, openAIs),
    change(both(unknown('/v1'), isPost), html),
  ],
  'ERR-3': [
    change((_, { status }) => status === 404, withFields({ path: undefined })),
    changing(unknown('/v1'), ({ path }) => ({ path: path.toUpperCase() })),
  ],
  'ERR-4': [
    change(isRefused, noError),
    change(both(to(CHAT), isRefused), noError),
    change(both(isRefused, isForged), noError),
  ],
  'ERR-5': [
    change((_, { status }) => status === 400 || status === 405, openAIs),
    change(
      both(to(CHAT), ({ text }) => text === '{'),
      html,
    ),
    change(
      both(to(CHAT, 400), ({ body }) => body.temperature === 'warm'),
      answer => ({ ...answer, text: '{"detail":[]}' }),
    ),
  ],
  'ERR-D1': [
    failing(
      both(({ path }) => path.includes('no-such-path'), noKey),
      401,
    ),
  ],
  'ERR-D2': [
    change(
      (_, { status }) => status === 404,
      (answer, { path }) => withFields({ path })(answer),
    ),
  ],
  'ERR-D3': [change(to(CHAT, 405), () => failed(400))],
  'ERR-D4': [change(to(CHAT, 405), withoutHeader('allow'))],
  'ERR-D5': [change(isRefused, withFields({ code: 'no_key' }))],
  'LIMIT-D1': [change(to(CHAT, 413), () => failed(400))],
  'CORS-D1': [change(({ method }) => method === 'OPTIONS', withoutHeader('access-control-allow-origin'))],
}
