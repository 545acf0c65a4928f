/** The forms of an exchange in the journal: in full, in short, and as events of a stream. */
import * as v from 'valibot'
import { closestRecording, violation } from '../check/finding.js'
import {
  anything,
  arrayOf,
  boolean,
  closed,
  map,
  moment,
  number,
  optionalMember,
  orNull,
  text,
  wholeNumber,
  word,
} from '../check/forms.js'
import type { ValueOf } from '../control/operation.js'
import { headerFaults, keyFaults, tokenFaults } from '../core/caller.js'
import { modes } from '../core/exchange.js'
import { faultSchema } from '../core/fault.js'

const kind = <const K extends string>(name: K) => v.literal(name, name)

/** The credential of a request that was refused because of it, and the reason. */
const refusedCredential = v.variant('kind', [
  closed({ kind: kind('apiKey'), reason: word(keyFaults), start: text, name: optionalMember(text) }),
  closed({ kind: kind('token'), reason: word(tokenFaults), email: optionalMember(text) }),
  closed({ kind: kind('header'), reason: word(headerFaults) }),
])

const caller = v.variant('kind', [
  closed({ kind: kind('anonymous') }),
  closed({ kind: kind('anon') }),
  closed({ kind: kind('service') }),
  closed({ kind: kind('user'), id: text, email: optionalMember(text) }),
  closed({ kind: kind('apiKey'), name: text, id: text, email: optionalMember(text) }),
  closed({ kind: kind('stranger'), id: text }),
  closed({ kind: kind('refused'), tried: refusedCredential }),
])

/** What produced the answer: the same as `source`, as data. */
const answeredBy = v.variant('kind', [
  closed({
    kind: kind('rule'),
    title: text,
    place: text,
    reply: optionalMember(wholeNumber),
    replies: optionalMember(wholeNumber),
  }),
  closed({ kind: kind('canned'), form: word(['reply', 'JSON', 'tool call']) }),
  closed({ kind: kind('magic'), words: arrayOf(text) }),
  closed({ kind: kind('resource'), path: text }),
  closed({ kind: kind('mcp'), path: text }),
  closed({ kind: kind('recording'), file: text }),
  closed({ kind: kind('openapi'), document: text, operation: text, example: optionalMember(text) }),
  closed({ kind: kind('live'), baseUrl: optionalMember(text), recordedAs: optionalMember(text) }),
])

/** A fault that applied to an answer. */
const appliedFault = closed({
  fault: faultSchema,
  /** What asked for it: a header, a call, an option, or a rule whose answer it replaced. */
  by: v.optional(v.union([text, answeredBy])),
  /** False if the answer was too short for it. */
  happened: boolean,
  /** Whether it changed the body. */
  isSpoilt: boolean,
})

const bodyFields = {
  /** The JSON value or the text; absent if there was no body. */
  body: v.optional(anything),
  bytes: wholeNumber,
  /** Whether `body` is only the beginning. */
  truncated: boolean,
}
const responseFields = { headers: map(text, text, 'an object'), ...bodyFields }

const times = {
  /** As reported by the answer, or counted here for a stream without usage; null if neither is known, or if the answer was cut. */
  tokens: orNull(closed({ prompt: wholeNumber, completion: wholeNumber })),
  /** From the request to the headers of the answer; null if none was sent. */
  firstByteMs: orNull(number),
  /** From the request to the first piece of a stream; null if the answer was sent in one piece. */
  firstTokenMs: orNull(number),
  /** From the request to the end. */
  durationMs: number,
}

const outcomeFields = {
  /** Null if no answer was sent. */
  status: orNull(wholeNumber),
  /** The error message that the client got. */
  error: orNull(text),
  /** The code of that error, such as `no_rule_matches`. */
  code: orNull(text),
  /** A hint that only the journal shows. */
  hint: orNull(text),
  /** OpenAI's error for a request that it is known to refuse with 400, although it was answered here. */
  openaiRefuses: orNull(text),
  /** False if the client disconnected or the answer was cut. */
  complete: boolean,
}

export const exchange = closed({
  id: text,
  /** When the request arrived, as ISO 8601. */
  at: moment,
  scope: text,
  caller,
  request: closed({ method: text, path: text, query: text, headers: map(text, text, 'an object'), ...bodyFields }),
  /** For example `POST /v1/chat/completions`; null if the path or method is unknown. */
  endpoint: orNull(text),
  /** The call of an MCP server, such as `tools/call get_weather`; null for every other request. */
  call: orNull(text),
  mode: orNull(word(modes)),
  /**
   * What produced the answer, and what went wrong with it, in words: `rule "greeting"`, `live + fault cutAfterBytes=3
   * (one-shot)`.
   */
  source: orNull(text),
  /** The same as data: what produced the answer; null for an error of ours. */
  answeredBy: orNull(answeredBy),
  /** The fault that applied to it. */
  fault: orNull(appliedFault),
  /** Whether it can be repeated, because its whole body is kept. */
  repeatable: boolean,
  /** Other information, for example the nearest rule if none matched. */
  remark: orNull(text),
  ...outcomeFields,
  /** The closest recording, and where it differs; absent if a recording answered, or if nothing is recorded for the path. */
  nearest: optionalMember(closestRecording),
  /** How the answer violates the contract. Also empty if it was not checked. */
  violations: arrayOf(violation),
  /**
   * The original answer of the live platform or a recording, if it was an error that was changed to fit the document.
   */
  upstream: optionalMember(closed(responseFields)),
  /** What was sent to the client. */
  response: closed({
    ...responseFields,
    /** When pieces of a stream were sent, in milliseconds after its head. */
    piecesAtMs: arrayOf(number),
  }),
  ...times,
})
export type JournalEntry = ValueOf<typeof exchange>

export const exchangeInBrief = closed({
  id: text,
  /** When the request arrived, as ISO 8601. */
  at: moment,
  scope: text,
  caller,
  method: text,
  /** Cut if it is long, like every text here. */
  path: text,
  /** For example `POST /v1/chat/completions`; null if the path or method is unknown. */
  endpoint: orNull(text),
  mode: orNull(word(modes)),
  /** The requested model, if any. */
  model: orNull(text),
  /** The beginning of the user's last message, if the request has messages. */
  prompt: orNull(text),
  /** The call of an MCP server, such as `tools/call get_weather`. */
  call: orNull(text),
  /** Whether a stream was requested; null if the request has no messages. */
  stream: orNull(boolean),
  /** What produced the answer. */
  source: orNull(text),
  /** The fault that applied, and what asked for it. */
  fault: orNull(text),
  /** Whether no rule or recording matched. */
  missed: boolean,
  ...outcomeFields,
  requestBytes: wholeNumber,
  responseBytes: wholeNumber,
  ...times,
  /** How many pieces of a stream were sent. */
  pieces: wholeNumber,
  /** When some of them were sent, after the head: an even selection that includes the first and the last. */
  piecesAtMs: arrayOf(number),
})
export type JournalBrief = ValueOf<typeof exchangeInBrief>
