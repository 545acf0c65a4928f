import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { recordingIn, textOf } from '../../src/recordings/file-text.js'
import { harOf } from '../../src/recordings/har/export.js'
import { ignoreFrom, keyOf, type RecordedResponse, type Recording } from '../../src/recordings/index.js'
import { requestOf } from '../../src/recordings/key.js'
import { redactedResponse } from '../../src/recordings/redacted.js'
import { createRedact } from '../../src/redact/index.js'
import { harSchema } from './har-schema.js'
import { imported } from './hars.js'

const ajv = new Ajv({ allErrors: true })
formats.default(ajv)
const isHar = ajv.compile(harSchema)

const redact = createRedact({ headers: [], query: [], emails: false, patterns: [], known: [] })
const ignore = ignoreFrom([])

const secrets = fc.constantFrom('sk-proj-a8Kd03jGk5Lw9QzXv7Bn2Mt4Rc6Yp1Hs0DfEuIo', 'plain words')
const text = fc.oneof(fc.string({ unit: 'grapheme' }), secrets)
const tenths = fc.integer({ min: 0, max: 50_000 }).map(tenths => tenths / 10)

const asked = fc.record({
  method: fc.constantFrom('GET', 'POST', 'DELETE'),
  path: fc.constantFrom(
    '/v1/chat/completions',
    '/health',
    '/v1/models/a%2Fb',
    '/logo.png',
    '/v1//odd/../path',
    '/v1/keys/sk-proj-a8Kd03jGk5Lw9QzXv7Bn2Mt4Rc6Yp1Hs0DfEuIo',
  ),
  query: fc.constantFrom('', 'b=2&a=1', 'apikey=abc-123-def', 'q=a+b&q=%C3%A9&flag'),
  contentType: fc.constantFrom('application/json', 'text/plain', undefined),
  body: fc.option(
    fc.oneof(
      fc.jsonValue().map(value => Buffer.from(JSON.stringify(value))),
      text.map(written => Buffer.from(written)),
      fc.uint8Array({ minLength: 1, maxLength: 40 }).map(bytes => Buffer.from(bytes)),
    ),
    { nil: undefined },
  ),
})

const piece = fc.oneof(
  text.map(content => Buffer.from(`data: ${JSON.stringify({ content })}\n\n`)),
  fc.constant(Buffer.from('data: [DONE]\n\n')),
  // May end in the middle of a character.
  fc.uint8Array({ minLength: 1, maxLength: 9 }).map(bytes => Buffer.from(bytes)),
)

const answer = fc
  .record({
    status: fc.constantFrom(200, 201, 304, 404, 429, 500),
    type: fc.constantFrom(
      'application/json',
      'text/event-stream; charset=utf-8',
      'application/x-ndjson',
      'image/png',
      '',
    ),
    further: fc.array(
      fc.tuple(fc.constantFrom('x-request-id', 'set-cookie', 'location'), fc.constantFrom('a', '/b?token=c')),
    ),
    ...{ headMs: tenths, endMs: tenths, complete: fc.boolean() },
    chunks: fc.array(fc.record({ atMs: tenths, bytes: piece }), { maxLength: 6 }),
  })
  .map(
    ({ type, further, ...response }): RecordedResponse => ({
      ...response,
      headers: [...(type === '' ? [] : [['content-type', type] as const]), ...further],
    }),
  )

/** A recording as it is read from disk. */
const recording = fc
  .record({ asked, answer, at: fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }) })
  .map(({ asked, answer, at }) => {
    const redaction = redact()
    const request = requestOf(asked, redaction)
    const made: Recording = { recordedAt: at.toISOString(), request, response: redactedResponse(answer, redaction) }
    return recordingIn(textOf(made, keyOf(request, ignore)), 'made.yaml')
  })

function byKey(recordings: readonly Recording[]): ReadonlyMap<string, readonly Recording[]> {
  const keys = new Map<string, Recording[]>()
  for (const one of recordings) {
    const key = keyOf(one.request, ignore)
    keys.set(key, [...(keys.get(key) ?? []), one])
  }
  return keys
}

test('any recordings survive export to HAR and import, with their times and order', () => {
  fc.assert(
    fc.property(fc.array(recording, { minLength: 1, maxLength: 5 }), recordings => {
      const kept = byKey(recordings)
      const numbered = [...kept.values()].flatMap(same => same.map((recording, i) => ({ recording, nth: i + 1 })))
      const har = harOf(numbered, { base: 'https://live.example.com/platform', version: '1.0.0' })
      expect(isHar(JSON.parse(har)), JSON.stringify(isHar.errors)).toBe(true)
      const back = imported(har, 'https://live.example.com/platform')
      expect(back.passedOver).toEqual({})
      expect(Object.fromEntries(back.byKey)).toEqual(Object.fromEntries(kept))
    }),
  )
})
