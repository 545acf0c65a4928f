/** HAR files as different tools write them. */
import { importHar } from '../../src/recordings/har.js'
import { ignoreFrom } from '../../src/recordings/index.js'
import { createRedact } from '../../src/redact/index.js'

export const LIVE = 'https://live.example.com'

const noRules = { names: [], emails: false, patterns: [], known: [] }

/** The result of importing a file; a string is imported as is. */
export function imported(har: unknown, base?: string, folder?: string) {
  const written = typeof har === 'string' ? har : JSON.stringify(har)
  const options = { base, folder, redact: createRedact(noRules), ignore: ignoreFrom([]) }
  const { byKey, passedOver, mended, remarks, problems } = importHar(written, 'app.har', options)
  return {
    recordings: [...byKey.values()].flat(),
    byKey,
    passedOver: Object.fromEntries(passedOver),
    mended,
    remarks,
    problems,
  }
}

export const harWith = (...entries: readonly object[]) => ({
  log: { version: '1.2', creator: { name: 'x', version: '1' }, entries },
})

interface ExchangeOptions {
  readonly method?: string
  readonly path?: string
  readonly body?: string
  readonly status?: number
  readonly type?: string
  readonly text?: string
  readonly at?: string
}

/** An exchange as Chrome saves it, with all its own additions. */
export function fromChrome({
  method = 'POST',
  path = '/v1/chat/completions',
  body,
  status = 200,
  ...rest
}: ExchangeOptions = {}) {
  const { type = 'application/json', text = '{"object":"chat.completion"}', at = '2026-11-20T10:00:00.123Z' } = rest
  return {
    _connectionId: '31',
    _initiator: { type: 'script', stack: { callFrames: [] } },
    _priority: 'High',
    _resourceType: 'fetch',
    cache: {},
    connection: '443',
    request: {
      method,
      url: `${LIVE}${path}`,
      httpVersion: 'h2',
      headers: [
        { name: ':authority', value: 'live.example.com' },
        { name: 'authorization', value: 'Bearer sk-live-0123456789abcdefghijklmnopqrstuv' },
        { name: 'content-type', value: 'application/json' },
      ],
      queryString: [],
      cookies: [],
      headersSize: -1,
      bodySize: body?.length ?? 0,
      ...(body !== undefined && { postData: { mimeType: 'application/json', text: body } }),
    },
    response: {
      status,
      statusText: '',
      httpVersion: 'h2',
      headers: [
        { name: 'content-type', value: type },
        { name: 'content-encoding', value: 'br' },
        { name: 'date', value: 'Fri, 20 Nov 2026 10:00:00 GMT' },
        { name: 'x-request-id', value: 'req_1' },
      ],
      cookies: [],
      content: { size: Buffer.byteLength(text), mimeType: type, text },
      redirectURL: '',
      headersSize: -1,
      bodySize: -1,
      _transferSize: 512,
      _error: null,
      _fetchedViaServiceWorker: false,
    },
    serverIPAddress: '203.0.113.7',
    startedDateTime: at,
    time: 851.2,
    timings: { blocked: 3.1, dns: -1, ssl: -1, connect: -1, send: 0.3, wait: 640.04, receive: 207.96, _queued: 1 },
  }
}
