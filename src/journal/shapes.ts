/** What the journal says of an exchange: in full, in short, and as the events of a follower. */
import * as v from 'valibot'
import type { Of } from '../api/operation.js'
import {
  anything,
  listOf,
  mapOf,
  maybe,
  moment,
  named,
  number,
  object,
  oneOf,
  orNull,
  text,
  whole,
  yesOrNo,
} from '../api/shapes.js'
import { closestRecording, violation } from '../check/finding.js'
import { headerFaults, keyFaults, tokenFaults } from '../core/caller.js'
import { modes } from '../core/exchange.js'
import { faultSchema } from '../core/fault.js'

const kind = <const K extends string>(name: K) => v.literal(name, name)

/** The credential of a request that was refused for it: what it was, and why it was refused. */
const refusedCredential = named(
  'RefusedCredential',
  v.variant('kind', [
    object({ kind: kind('apiKey'), reason: oneOf(keyFaults), start: text, name: maybe(text) }),
    object({ kind: kind('token'), reason: oneOf(tokenFaults), email: maybe(text) }),
    object({ kind: kind('header'), reason: oneOf(headerFaults) }),
  ]),
)

const caller = named(
  'Caller',
  v.variant('kind', [
    object({ kind: kind('anonymous') }),
    object({ kind: kind('anon') }),
    object({ kind: kind('service') }),
    object({ kind: kind('user'), id: text, email: maybe(text) }),
    object({ kind: kind('apiKey'), name: text, id: text, email: maybe(text) }),
    object({ kind: kind('stranger'), id: text }),
    object({ kind: kind('refused'), tried: refusedCredential }),
  ]),
)

/** What gave an answer: the same as `source`, as data. */
const answeredBy = named(
  'AnsweredBy',
  v.variant('kind', [
    object({ kind: kind('rule'), title: text, place: text, reply: maybe(whole), replies: maybe(whole) }),
    object({ kind: kind('canned'), form: oneOf(['reply', 'JSON', 'tool call']) }),
    object({ kind: kind('magic'), words: listOf(text) }),
    object({ kind: kind('recording'), file: text }),
    object({ kind: kind('live'), baseUrl: maybe(text), recordedAs: maybe(text) }),
  ]),
)

/** A fault on its way with an answer. */
const faultDone = object({
  fault: faultSchema,
  /** What asked for it: a header, a call, an option, or a rule whose answer it replaced. */
  by: v.optional(v.union([text, answeredBy])),
  /** False where the answer was too short for it. */
  happened: yesOrNo,
  /** Whether it has changed the body. */
  isSpoilt: yesOrNo,
})

const content = {
  /** The JSON value, or the text; missing where there was no body. */
  body: v.optional(anything),
  bytes: whole,
  /** Whether `body` is only the beginning. */
  truncated: yesOrNo,
}
const said = { headers: mapOf(text), ...content }

const times = {
  /** What the answer says it used; of a stream without usage, what is counted here; null where neither is known. */
  tokens: orNull(object({ prompt: whole, completion: whole })),
  /** From the request to the headers of the answer; null where none has left. */
  firstByteMs: orNull(number),
  /** From the request to the first piece of a stream; null where the answer left in one piece. */
  firstTokenMs: orNull(number),
}

export const exchange = named(
  'Exchange',
  object({
    id: text,
    /** When the request came, as ISO 8601. */
    at: moment,
    scope: text,
    caller,
    request: object({ method: text, path: text, query: text, headers: mapOf(text), ...content }),
    /** `POST /v1/chat/completions`; null where there is none at the path, or none with this method. */
    endpoint: orNull(text),
    mode: orNull(oneOf(modes)),
    /** What gave the answer and what went wrong with it, in words: `rule "greeting"`, `live + fault cutAfterBytes=3 (one-shot)`. */
    source: orNull(text),
    /** The same as data: what gave the answer; null for an error of ours. */
    answeredBy: orNull(answeredBy),
    /** And the fault that was on its way with it. */
    fault: orNull(faultDone),
    /** Whether it can be sent again: all of its body is kept. */
    repeatable: yesOrNo,
    /** What else is known: the nearest rule where none matched, for example. */
    remark: orNull(text),
    /** Null where no answer has left. */
    status: orNull(whole),
    /** What went wrong, as the client was told. */
    error: orNull(text),
    /** The name of that error in code: `no_rule_matches`. */
    code: orNull(text),
    /** What only the journal says about it. */
    hint: orNull(text),
    /** What OpenAI says to such a request, where it is known to refuse it with 400 and it was answered here. */
    openaiRefuses: orNull(text),
    /** False where the client left or the answer was cut. */
    complete: yesOrNo,
    /** The recording that comes nearest, and where it differs; missing where one answered, or nothing is recorded for the path. */
    nearest: maybe(closestRecording),
    /** What the answer has against the contract; empty as well where it was not judged. */
    violations: listOf(violation),
    /** What the live platform, or a recording of it, answered, where that was an error that was made to fit the document for the client. */
    upstream: maybe(object(said)),
    /** What the client was sent. */
    response: object({
      ...said,
      /** When pieces of a stream left, after its head, in milliseconds. */
      piecesAtMs: listOf(number),
    }),
    ...times,
    /** From the request to the end. */
    durationMs: number,
  }),
)
export type JournalEntry = Of<typeof exchange>

export const exchangeInBrief = named(
  'ExchangeInBrief',
  object({
    id: text,
    /** When the request came, as ISO 8601. */
    at: moment,
    scope: text,
    caller,
    method: text,
    /** The beginning of it where it is long, as of every text here. */
    path: text,
    /** `POST /v1/chat/completions`; null where there is none at the path, or none with this method. */
    endpoint: orNull(text),
    mode: orNull(oneOf(modes)),
    /** The model that was asked, where one was. */
    model: orNull(text),
    /** The beginning of the user's last message, where the request has messages. */
    prompt: orNull(text),
    /** Whether a stream was asked for; null where the request has no messages. */
    stream: orNull(yesOrNo),
    /** What gave the answer. */
    source: orNull(text),
    /** The fault that happened to it, and what asked for that. */
    fault: orNull(text),
    /** Whether no rule or recording matched. */
    missed: yesOrNo,
    /** Null where no answer has left. */
    status: orNull(whole),
    error: orNull(text),
    code: orNull(text),
    hint: orNull(text),
    /** What OpenAI says to such a request, where it is known to refuse it with 400 and it was answered here. */
    openaiRefuses: orNull(text),
    /** False where the client left or the answer was cut. */
    complete: yesOrNo,
    requestBytes: whole,
    responseBytes: whole,
    ...times,
    durationMs: number,
    /** How many pieces of a stream have left. */
    pieces: whole,
    /** When some of them left, after the head: evenly chosen, the first and the last one among them. */
    piecesAtMs: listOf(number),
  }),
)
export type JournalBrief = Of<typeof exchangeInBrief>

/** How many exchanges there were in a while, and how long they took. */
const tick = named(
  'Tick',
  object({
    at: moment,
    overMs: whole,
    requests: whole,
    errors: whole,
    p50Ms: orNull(number),
    p95Ms: orNull(number),
  }),
)
export type Tick = Of<typeof tick>

/** The events of a follower. */
export const followed = [
  { name: 'exchange', what: 'An exchange.', data: exchange },
  {
    name: 'began',
    what: 'With `brief`, first: `run` changes with each start of Standin, when ids start over; every exchange after the id `after` is sent or skipped. `ticks` are those of the last two minutes, where no filter is given.',
    data: named('Began', object({ run: text, after: text, ticks: listOf(tick) })),
  },
  {
    name: 'exchanges',
    what: 'With `brief`: several of them, each in short.',
    data: named('ExchangesInBrief', listOf(exchangeInBrief)),
  },
  {
    name: 'skipped',
    what: 'How many there was no time for.',
    data: named('Skipped', object({ count: whole })),
  },
  {
    name: 'tick',
    what: 'With `brief`, each second: how many there were and how long they took, skipped ones included.',
    data: tick,
  },
] as const
