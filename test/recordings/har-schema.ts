/** HAR 1.2 (w3c.github.io/web-performance/specs/HAR/Overview.html) as a JSON Schema, limited to what an export contains. */

/** Required and optional properties; all others must begin with an underscore. */
const object = (required: object, optional: object = {}) => ({
  type: 'object',
  properties: { ...required, ...optional, comment: { type: 'string' } },
  required: Object.keys(required),
  patternProperties: { '^_': {} },
  additionalProperties: false,
})
const list = (items: object) => ({ type: 'array', items })
const string = { type: 'string' }
const integer = { type: 'integer' }
const time = { type: 'string', format: 'date-time' }
const ms = { type: 'number', minimum: 0 }
const msOrUnknown = { type: 'number', minimum: -1 }
const pair = object({ name: string, value: string })
const address = { type: 'string', format: 'uri' }

const request = object(
  {
    ...{ method: string, url: address, httpVersion: string, cookies: list(pair), headers: list(pair) },
    ...{ queryString: list(pair), headersSize: integer, bodySize: integer },
  },
  { postData: object({ mimeType: string }, { text: string, params: list(pair) }) },
)

const response = object({
  ...{ status: integer, statusText: string, httpVersion: string, cookies: list(pair), headers: list(pair) },
  content: object({ size: integer, mimeType: string }, { compression: integer, text: string, encoding: string }),
  ...{ redirectURL: string, headersSize: integer, bodySize: integer },
})

const timings = object(
  { send: ms, wait: ms, receive: ms },
  { blocked: msOrUnknown, dns: msOrUnknown, connect: msOrUnknown, ssl: msOrUnknown },
)

const entry = object(
  { startedDateTime: time, time: ms, request, response, cache: object({}), timings },
  { pageref: string, serverIPAddress: string, connection: string },
)

export const harSchema = object({
  log: object({ version: { const: '1.2' }, creator: object({ name: string, version: string }), entries: list(entry) }),
})
