/** Decides whether two answers to a request say the same, whatever ids, times and rhythm they have. */
import { isDeepStrictEqual } from 'node:util'
import { readStream } from '../chat/chunks.js'
import { dataOf, eventsIn, linesIn } from '../chat/events.js'
import { isObject, jsonOf } from '../core/json.js'
import { isPassingError, isStream, type RecordedResponse, recordedBody } from './recording.js'

/** Whether a new answer to the same request is no reason to change the file of the old one. */
export const saysTheSame = (old: RecordedResponse, fresh: RecordedResponse): boolean =>
  old.status === fresh.status && isDeepStrictEqual(essenceOf(old), essenceOf(fresh))

function essenceOf(response: RecordedResponse) {
  const { statusText, complete } = response
  const headers = response.headers
    .filter(([name]) => !changingHeaders.test(name))
    .map(([name, value]) => `${name}: ${withoutNumbers(value)}`)
  const said = essentialBody(response)
  // "Try again in 7 s" is the same refusal as "Try again in 9 s".
  const body = isPassingError(response) ? withoutNumbers(JSON.stringify(said)) : said
  return { statusText, complete, headers: headers.sort(), body }
}

const changingHeaders = /^(set-cookie|etag|last-modified|expires)$|rate-?limit|request-id|trace|session-id/

/** In headers, a word with a digit is an id, a time or a count. */
const withoutNumbers = (text: string) => text.replace(/[^\s,;="]+/g, word => (/\d/.test(word) ? '#' : word))

/** Streams are compared by what they add up to, because platforms cut them differently each time. */
function essentialBody(response: RecordedResponse): unknown {
  const body = recordedBody(response)
  if (!isStream(response)) return essentialJson(body.toString()) ?? body.toString('latin1')
  const { completion, isEntire } = readStream(body)
  if (completion && isEntire) return withoutChance(completion)
  const parts = /^data:/m.test(body.toString('latin1')) ? eventsIn(body) : linesIn(body)
  return parts.map(part => essentialJson(dataOf(part) ?? part.toString()) ?? part.toString('latin1'))
}

function essentialJson(text: string): unknown {
  const value = jsonOf(text)
  return value === undefined ? undefined : withoutChance(value)
}

/** Fields that say when and where an answer was made, but not what it says. Obfuscation is OpenAI's padding of streams. */
const chanceFields =
  /^(created|created_at|completed_at|system_fingerprint|request_id|x_groq|obfuscation|logprobs|\w+_tokens_details|\w+_(time|duration))$/

function withoutChance(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutChance)
  if (!isObject(value)) return value
  const isChance = (name: string, field: unknown) =>
    chanceFields.test(name) || (/(^|_)id$|Id$/.test(name) && (hasMadeUpId(value) || isRandom(field)))
  const kept = Object.entries(value).filter(([name, field]) => !isChance(name, field))
  return Object.fromEntries(kept.map(([name, field]) => [name, withoutChance(field)]))
}

/** Completions, tool calls and JSON-RPC messages have ids of the moment, some as short as `call_1`. */
const hasMadeUpId = (value: Readonly<Record<string, unknown>>) =>
  Array.isArray(value.choices) || isObject(value.function) || isObject(value.custom) || value.jsonrpc === '2.0'

/** Whether a text is a UUID, or has letters and digits in one long word, as in `resp_67ccd2bed1ec8190b14f964abc054267`. */
const isRandom = (field: unknown) =>
  typeof field === 'string' &&
  (/^[\da-f]{8}(-[\da-f]{4}){3}-/i.test(field) ||
    (field.match(/[a-z0-9]{9,}/gi) ?? []).some(word => /\d/.test(word) && /[a-z]/i.test(word)))
