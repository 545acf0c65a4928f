import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RecordedResponse } from '../../src/recordings/recording.js'
import { redactedResponse } from '../../src/recordings/redacted.js'
import { createRedact, findSecrets } from '../../src/redact/index.js'
import { key, noRules, prose, secret } from './secrets.js'

const ownKey = 'sk-local-StandinDevelopmentKeyDoNotDeploy41E9kt'
const aJwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF_123-xyz'

const answer = (contentType: string, ...chunks: readonly (string | Buffer)[]): RecordedResponse => ({
  ...{ status: 200, headers: [['content-type', contentType]], headMs: 1, endMs: 9, complete: true },
  chunks: chunks.map((bytes, atMs) => ({ atMs, bytes: Buffer.from(bytes) })),
})

const redacted = (response: RecordedResponse, rules = {}, own = ownKey) =>
  redactedResponse(response, createRedact({ ...noRules, ...rules })([own]), '/v1/x')

const textsOf = ({ chunks }: RecordedResponse) => chunks.map(({ bytes }) => bytes.toString())
const said = (contentType: string, body: string | Buffer, rules = {}) =>
  textsOf(redacted(answer(contentType, body), rules)).join('')

describe('a whole body', () => {
  test('JSON keeps its whitespace, numbers and escapes around a secret', () => {
    const body = `{ "a" : "\\u00fcber ${ownKey}\\n\\/ü",\r\n\t"big": 12345678901234567890.10, "${ownKey}": [1e2, "\\"${aJwt}"] }`
    expect(said('application/json', body)).toBe(
      '{ "a" : "\\u00fcber [credential]\\n\\/ü",\r\n\t"big": 12345678901234567890.10, "[credential]": [1e2, "\\"[jwt-1]"] }',
    )
  })

  test('a secret written with escapes is found, and only its text is rewritten', () => {
    const hidden = ownKey.replace('k', '\\u006b').replace('D', '\\u0044')
    expect(said('application/json', `{"a":"x\\u0020${hidden}\\u0020","b":"\\u0041"}`)).toBe(
      '{"a":"x\\u0020[credential]\\u0020","b":"\\u0041"}',
    )
  })

  test('a number that matches a pattern becomes a string, so that the body stays JSON', () => {
    const patterns = [{ name: 'card', pattern: /\b4\d{15}\b/ }]
    expect(said('application/json', '{"card": 4111111111111111, "n": [-1.5e3]}', { patterns })).toBe(
      '{"card": "[card-1]", "n": [-1.5e3]}',
    )
  })

  test('a known value with special characters is found in JSON and in binary data', () => {
    const rules = { known: [{ name: 'live-password', value: 'pä"日😀' }] }
    expect(said('application/json', JSON.stringify({ a: '<pä"日😀>' }), rules)).toBe('{"a":"<[live-password]>"}')
    const bytes = Buffer.concat([Buffer.from('<pä"日😀>'), Buffer.from([255])])
    expect(redacted(answer('audio/mpeg', bytes), rules).chunks[0]?.bytes.toString('latin1')).toBe(
      '<[live-password]>\xff',
    )
  })

  test('logprobs do not spell out a secret that was redacted from the text', () => {
    const tokens = ['My ', ...(ownKey.match(/.{1,5}/g) ?? []), '!'].map(token => ({
      ...{ token, logprob: -0.5, bytes: [...Buffer.from(token)] },
      top_logprobs: [{ token, logprob: -0.5, bytes: [...Buffer.from(token)] }],
    }))
    const spelled = (body: string) =>
      [...body.matchAll(/"token":"([^"]*)"|"bytes":\[([\d,]*)\]/g)]
        .map(([, token, bytes]) => token ?? String.fromCharCode(...(bytes ?? '').split(',').map(Number)))
        .join('')
    const whole = JSON.stringify({
      choices: [{ message: { content: `My ${ownKey}!` }, logprobs: { content: tokens } }],
    })
    const stream = tokens
      .map(one => ({ index: 0, delta: { content: one.token }, logprobs: { content: [one] } }))
      .map(choice => `data: ${JSON.stringify({ choices: [choice] })}\n\n`)
      .join('')
    for (const body of [said('application/json', whole), said('text/event-stream', stream)]) {
      expect(body).toContain('[credential]')
      expect(body).toContain('"logprob":-0.5')
      expect(spelled(body)).toMatch(/^\0*$/)
    }
  })

  test('plain text and invalid JSON are redacted as text', () => {
    expect(said('text/plain', `Sorry, ${ownKey} is wrong.`)).toBe('Sorry, [credential] is wrong.')
    expect(said('application/json', `{"error": "${ownKey}`)).toBe('{"error": "[credential]')
    expect(said('application/json', `\ufeff{"a":"\\u0073${ownKey.slice(1)}"}`)).toBe('\ufeff{"a":"[credential]"}')
    expect(textsOf(redacted(answer('text/plain')))).toEqual([])
  })

  test('bytes that are not UTF-8 stay unchanged around a secret', () => {
    const [before, after] = [Buffer.from([0, 255, 254, 10]), Buffer.from([200, 13, 0, 128])]
    const { chunks } = redacted(answer('audio/mpeg', Buffer.concat([before, Buffer.from(ownKey), after])))
    expect(chunks[0]?.bytes).toEqual(Buffer.concat([before, Buffer.from('[credential]'), after]))
  })

  test('headers are redacted pair by pair', () => {
    const response: RecordedResponse = {
      ...answer('text/plain', 'ok'),
      headers: [
        ['content-type', 'text/plain'],
        ['set-cookie', 'a=b'],
        ['x-echo', ownKey],
        ['set-cookie', 'c=d'],
      ],
    }
    expect(redacted(response).headers).toEqual([
      ['content-type', 'text/plain'],
      ['set-cookie', '[set-cookie]'],
      ['x-echo', '[credential]'],
      ['set-cookie', '[set-cookie]'],
    ])
  })

  test('a cookie and a token set by the answer itself are redacted in its body and other headers', () => {
    const response: RecordedResponse = {
      ...answer(
        'application/json',
        JSON.stringify({ session: 'plain-session-value', csrf: 'Plain/Csrf=Value', ownKey }),
      ),
      headers: [
        ['set-cookie', 'sid=plain-session-value; Path=/'],
        ['x-csrf-token', 'Plain/Csrf=Value'],
        ['x-session', 'is plain-session-value'],
      ],
    }
    const result = redacted(response)
    expect(textsOf(result)).toEqual(['{"session":"[credential]","csrf":"[credential]","ownKey":"[credential]"}'])
    expect(result.headers.map(([, value]) => value)).toEqual(['[set-cookie]', '[x-csrf-token]', 'is [credential]'])
    expect(redacted(result)).toEqual(result)
  })

  test('secret parameters of URLs are redacted, with escapes and across tokens', () => {
    expect(said('application/json', '{"next": "https:\\/\\/a.test\\/x?access_token=abc\\u0026limit=2"}')).toBe(
      '{"next": "https:\\/\\/a.test\\/x?access_token=[access-token]\\u0026limit=2"}',
    )
    const tokens = ['See https', '://a.test/x', '?to', 'ken=ab', 'c&limit=2 for more']
    expect(textsOf(redacted(stream(...tokens.map(content => delta({ content })))))).toEqual(
      ['See https', '://a.test/x', '?to', 'ken=[token]', '&limit=2 for more'].map(content => delta({ content })),
    )
  })

  test('a body of backslashes is redacted in linear time', () => {
    // A quadratic search would take minutes and exceed the timeout of the test.
    const body = JSON.stringify({ path: '\\'.repeat(150_000), ownKey })
    for (const type of ['application/json', 'text/event-stream']) {
      expect(said(type, body)).toBe(body.replace(ownKey, '[credential]'))
    }
  })

  test('a body without secrets is left as is', () => {
    const response = answer('application/json', '{"a": "b\\u0020"}')
    expect(redacted(response).chunks[0]).toBe(response.chunks[0])
  })
})

const event = (data: unknown) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
const delta = (delta: unknown, index = 0) => event({ id: 'chatcmpl-1', model: 'gpt-4o', choices: [{ index, delta }] })

const stream = (...chunks: readonly (string | Buffer)[]) => answer('text/event-stream', ...chunks)

describe('a stream', () => {
  test('a secret sent token by token is replaced in the event where it begins', () => {
    const tokens = ['The key', ' is ', 'sk-', 'local-Standin', 'DevelopmentKeyDoNotDeploy41E9kt', ', keep it.']
    expect(textsOf(redacted(stream(...tokens.map(content => delta({ content })), event('[DONE]'))))).toEqual([
      ...['The key', ' is ', '[credential]', '', '', ', keep it.'].map(content => delta({ content })),
      event('[DONE]'),
    ])
  })

  test('interleaved choices and tool calls are separate texts, told apart by index', () => {
    const [a, b] = [aJwt.slice(0, 15), aJwt.slice(15)]
    const call = (index: number, args: string) => ({ tool_calls: [{ index, function: { arguments: args } }] })
    const input = [
      delta({ content: a }, 0),
      delta({ content: 'x' }, 1),
      delta(call(0, `{"token":"${a}`)),
      delta(call(1, '{"q":"')),
      delta({ content: `${b}!` }, 0),
      delta(call(0, `${b}"}`)),
      delta(call(1, 'y"}')),
      delta({ content: 'z' }, 1),
    ]
    expect(textsOf(redacted(stream(...input)))).toEqual([
      delta({ content: '[token]' }, 0),
      delta({ content: 'x' }, 1),
      delta(call(0, '{"token":"[token]')),
      delta(call(1, '{"q":"')),
      delta({ content: '!' }, 0),
      delta(call(0, '"}')),
      delta(call(1, 'y"}')),
      delta({ content: 'z' }, 1),
    ])
  })

  test('other streamed texts are redacted too: reasoning, legacy completions, Responses events', () => {
    const [a, b] = [aJwt.slice(0, 15), aJwt.slice(15)]
    const ways: readonly ((part: string) => unknown)[] = [
      reasoning => ({ choices: [{ index: 0, delta: { reasoning } }] }),
      text => ({ choices: [{ text, index: 0 }] }),
      delta => ({ type: 'response.output_text.delta', output_index: 0, delta }),
      text => ({ type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text } }),
    ]
    for (const way of ways) {
      const input = stream(event(way(a)), event(way(b)))
      expect(textsOf(redacted(input))).toEqual([event(way('[jwt-1]')), event(way(''))])
    }
  })

  test('values repeated in each event are not joined', () => {
    const patterns = [{ name: 'twice', pattern: /gpt-4ogpt-4o|assistantassistant/ }]
    const input = stream(...[1, 2, 3].map(() => delta({ role: 'assistant' })))
    expect(textsOf(redacted(input, { patterns }))).toEqual(textsOf(input))
  })

  test('apart from the secret an event is unchanged: whitespace, comments, names, multi-line data', () => {
    const input = `: key ${ownKey}\r\nevent: x\r\ndata:{ "a" : "${ownKey} \\u00e9",\r\ndata:  "delta" : "é" }\r\nid: ${ownKey}\r\n\r\n`
    expect(said('text/event-stream', input)).toBe(input.replaceAll(ownKey, '[credential]'))
  })

  test('data that is not JSON is searched as text, across events too', () => {
    const pem = '-----BEGIN PRIVATE KEY-----\n\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----'
    expect(said('text/event-stream', `data: {broken ${ownKey}\n\n${pem}\n\n`)).toBe(
      'data: {broken [credential]\n\n[private-key-1]\n\n',
    )
  })

  test('NDJSON lines are events as well', () => {
    const line = (delta: string) => `${JSON.stringify({ delta })}\n`
    const input = answer('application/x-ndjson', line('a sk-local-Standin'), line(`${ownKey.slice(16)} b`))
    expect(textsOf(redacted(input))).toEqual([line('a [credential]'), line(' b')])
  })

  test('streamed answers of Ollama are redacted, whatever their content type', () => {
    const [a, b] = [aJwt.slice(0, 15), aJwt.slice(15)]
    const ways: readonly ((part: string) => object)[] = [
      content => ({ model: 'm', message: { role: 'assistant', content }, done: false }),
      thinking => ({ model: 'm', message: { role: 'assistant', content: '', thinking }, done: false }),
      response => ({ model: 'm', response }),
    ]
    for (const way of ways) {
      const lines = (...parts: readonly string[]) => parts.map(part => `${JSON.stringify(way(part))}\n`).join('')
      const input = lines('It is ', a, b, '.')
      for (const type of ['application/x-ndjson', 'application/json', 'text/plain']) {
        expect(said(type, input)).toBe(lines('It is ', '[jwt-1]', '', '.'))
      }
    }
  })

  test('with chunk boundaries inside a secret, an escape and a character the rest stays in its chunk', () => {
    const bytes = Buffer.from(delta({ content: `é"${ownKey}"日本` }))
    const at = (text: string) => bytes.indexOf(text)
    const cuts = [0, at('é') + 1, at('\\"') + 1, at('local'), at('Key'), at('日') + 2, bytes.length]
    const input = stream(...cuts.slice(1).map((cut, i) => bytes.subarray(cuts[i], cut)))
    const { chunks } = redacted(input)
    const result = chunks.map(({ bytes }) => bytes.toString('latin1'))
    const before = input.chunks.map(({ bytes }) => bytes.toString('latin1'))
    expect(result).toEqual([
      before[0],
      before[1],
      before[2]?.replace('sk-', '[credential]'),
      '',
      before[4]?.slice(ownKey.length - ownKey.indexOf('Key')),
      before[5],
    ])
    expect(chunks.map(({ atMs }) => atMs)).toEqual(input.chunks.map(({ atMs }) => atMs))
  })
})

/** The bytes, cut at these places. */
function cutAt(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const cuts = [...places.map(place => place % (bytes.length + 1)), 0, bytes.length].sort((a, b) => a - b)
  return cuts.slice(1).map((cut, i) => bytes.subarray(cuts[i], cut))
}

const cutText = (text: string, places: readonly number[]) => {
  const letters = [...text]
  const cuts = [...places.map(place => place % (letters.length + 1)), 0, letters.length].sort((a, b) => a - b)
  return cuts.slice(1).map((cut, i) => letters.slice(cuts[i], cut).join(''))
}

const places = fc.array(fc.nat(), { maxLength: 12 })

/** The assembled content of the events. */
const assembled = (text: string) =>
  [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json).choices[0].delta.content).join('')

describe('for any input', () => {
  test('a secret in a stream is gone from the bytes and the assembled text, and the rest is unchanged', () => {
    fc.assert(
      fc.property(secret, prose, prose, places, places, (secret, before, after, tokens, borders) => {
        const text = before + secret + after
        const body =
          cutText(text, tokens)
            .map(content => delta({ content }))
            .join('') + event('[DONE]')
        const result = redacted(stream(...cutAt(Buffer.from(body), borders)))
        const whole = Buffer.concat(result.chunks.map(({ bytes }) => bytes)).toString()
        expect(result.chunks).toHaveLength(borders.length + 1)
        const [placeholder = ''] = /\[(jwt|key|private-key)-1\]/.exec(whole) ?? []
        expect(assembled(whole)).toBe(before + placeholder + after)
        expect(findSecrets(whole, noRules)).toEqual([])
        expect(whole.split('\n').length).toBe(body.split('\n').length)
      }),
    )
  })

  test('without a secret each chunk is unchanged, byte for byte', () => {
    fc.assert(
      fc.property(fc.array(prose), fc.uint8Array(), places, (parts, bytes, borders) => {
        const body = Buffer.concat([Buffer.from(parts.map(content => delta({ content })).join('')), bytes])
        const input = stream(...cutAt(body, borders))
        expect(redacted(input, { known: [{ name: 'live', value: 'q'.repeat(50) }], emails: true })).toEqual(input)
      }),
    )
  })

  test('in binary data every byte outside a secret stays in its chunk', () => {
    const filler = fc.oneof(fc.uint8Array({ max: 31, maxLength: 9 }).map(Buffer.from), prose.map(Buffer.from))
    fc.assert(
      fc.property(filler, filler, key, places, (before, after, key, borders) => {
        const body = Buffer.concat([before, Buffer.from(` ${key}\n`), after])
        const input = answer('application/octet-stream', ...cutAt(body, borders))
        const result = redacted(input).chunks.map(({ bytes }) => bytes.toString('latin1'))
        // Without the bytes of secret and placeholder a chunk is the same on both sides.
        let start = 0
        const secretAt = new Uint8Array(body.length)
        for (let at = body.indexOf(key); at >= 0; at = body.indexOf(key, at + 1)) secretAt.fill(1, at, at + key.length)
        const expected = input.chunks.map(({ bytes }) => {
          const rest = bytes.filter((_, i) => !secretAt[start + i])
          start += bytes.length
          return Buffer.from(rest).toString('latin1')
        })
        expect(result.map(chunk => chunk.replaceAll('[key-1]', ''))).toEqual(expected)
      }),
    )
  })

  test('a JSON body stays JSON with the same content, apart from its secrets', () => {
    const json = fc.jsonValue({ maxDepth: 4 })
    fc.assert(
      fc.property(json, secret, prose, fc.boolean(), (value, secret, prose, ascii) => {
        const written = JSON.stringify(
          { value, [prose + secret]: [prose + secret + prose, value] },
          null,
          ascii ? 2 : 0,
        )
        const body = ascii
          ? written.replace(/[^\x20-\x7e\n]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
          : written
        const result = JSON.parse(said('application/json', body))
        expect(result).toEqual(createRedact(noRules)().value(JSON.parse(body)))
        expect(result.value).toEqual(JSON.parse(body).value)
      }),
    )
  })
})
