/** What a file of a recording may say. */
import * as v from 'valibot'
import { closed, map, number, open } from '../core/check.js'
import { isMoment } from '../core/moment.js'
import { jsonStyles } from './json-style.js'

const text = v.string('text')
const milliseconds = v.optional(number(0, Number.MAX_SAFE_INTEGER, 'milliseconds'))
const base64 = v.pipe(text, v.regex(/^[A-Za-z0-9+/\s]*={0,2}\s*$/, 'bytes in Base64'))
const aStatus = 'a status from 100 to 999'
const status = v.pipe(v.number(aStatus), v.integer(aStatus), v.minValue(100, aStatus), v.maxValue(999, aStatus))
const aMoment = 'a time such as 2030-01-31T12:00:00Z'

/** An object that has one of the keys and no second. */
const sayingOne = <const S extends v.GenericSchema>(schema: S, keys: readonly string[]): S => {
  const told = `has to say one of ${keys.join(', ')}, and no other.`
  const saysOne = v.check<unknown, string>(
    object => keys.filter(key => Object.hasOwn(object as object, key)).length === 1,
    told,
  )
  return v.pipe(schema, saysOne) as unknown as S
}

/** JSON stands as YAML; what cannot be read as text, in Base64. */
const body = { json: v.optional(v.unknown()), text: v.optional(text), base64: v.optional(base64) }
const contents = ['json', 'text', 'base64'] as const

const request = closed({
  method: v.pipe(text, v.nonEmpty('a method such as GET')),
  path: v.pipe(text, v.startsWith('/', 'a path that begins with /')),
  query: v.optional(text),
  body: v.optional(sayingOne(closed(body), contents)),
})
export type RequestForm = v.InferOutput<typeof request>

/** A number that somebody wrote without quotes is what it looks like. */
const headerValue = v.union([text, v.number(), v.array(text)], 'text or a list of texts')

const chunk = sayingOne(closed({ atMs: milliseconds, text: body.text, base64: body.base64 }), ['text', 'base64'])
export type ChunkForm = v.InferOutput<typeof chunk>

const response = v.pipe(
  closed({
    status,
    headMs: milliseconds,
    headers: v.optional(map(text, headerValue, 'a map of names and values'), {}),
    body: v.optional(
      sayingOne(
        closed({ ...body, written: v.optional(v.picklist(jsonStyles, 'a style such as compact or indented')) }),
        contents,
      ),
    ),
    chunks: v.optional(v.array(chunk, 'a list of chunks')),
    endMs: milliseconds,
  }),
  v.check(({ body, chunks }) => !body || !chunks, 'has to say either body or chunks.'),
)
export type ResponseForm = v.InferOutput<typeof response>

/** All of a file. `key` is there for whoever reads it: what counts is the name of the file. */
export const recordingForm = closed({
  recordedAt: v.optional(v.pipe(text, v.check(isMoment, aMoment))),
  key: v.optional(text),
  complete: v.optional(v.boolean('true or false'), true),
  request,
  response,
})

/** Its request alone. */
export const requestForm = open({ request })
