/**
 * An exchange as the journal shows it, in detail and in a list. A field is declared here and nowhere else, by its form
 * and how it is read: types, checks, answers and the API follow.
 */
import * as v from 'valibot'
import { type ClosestRecording, closestRecording, type Violation, violation } from '../check/finding.js'
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
import { headerFaults, keyFaults, tokenFaults } from '../core/caller.js'
import { shortened } from '../core/errors.js'
import { type Exchange, modes, sourceOf } from '../core/exchange.js'
import { faultSchema } from '../core/fault.js'
import type { Schema, ValueOf } from '../core/operation.js'
import { appliedFaultInWords } from '../core/reply.js'
import { type Redact, type Redaction, redactionOf } from '../redact/index.js'
import { adviceOn } from './advice.js'
import { requestParts, responseParts, SHOWN_BYTES } from './bodies.js'
import {
  accountOf,
  bodyBytesOf,
  callOf,
  contentOf,
  firstTokenMsOf,
  isMissed,
  isRepeatable,
  piecesOf,
  responseBytesOf,
  rounded,
  scopesInWords,
  tokensOf,
  tokensSoFarOf,
} from './facts.js'
import { repairIds, repairsFor } from './repairable.js'
import { sessionOf } from './session.js'

/** What the journal keeps of an exchange until it is read. */
export interface JournaledExchange {
  readonly id: number
  readonly exchange: Exchange
  /** Milliseconds since 1970. */
  readonly atMs: number
  readonly durationMs: number
  /** The run that a request in flight belongs to. */
  readonly run?: number | undefined
}

/** What a field is read from. */
interface View extends JournaledExchange {
  readonly redaction: Redaction
  /** Redacts a text; in a list, cuts it as well. */
  readonly shown: (text: string | null | undefined) => string | null
  /** Longer bodies are cut to this length. */
  readonly shownBytes: number
}

interface Field<S extends Schema> {
  readonly form: S
  readonly read: (view: View) => ValueOf<S> | undefined
}
type Fields = Readonly<Record<string, Field<Schema>>>

/** A field is left out if there is nothing to read, which only an optional member allows. */
const shownField = <const S extends Schema>(form: S, read: Field<S>['read']): Field<S> => ({ form, read })

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
  closed({
    kind: kind('apiKey'),
    name: text,
    id: text,
    owner: optionalMember(text),
    email: optionalMember(text),
  }),
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
  closed({ kind: kind('tables'), role: text }),
  closed({ kind: kind('recording'), file: text, changed: optionalMember(word(['prompt', 'message'])) }),
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

const bodyMembers = {
  /** The JSON value or the text; absent if there was no body. */
  body: v.optional(anything),
  bytes: wholeNumber,
  /** Whether `body` is only the beginning. */
  truncated: boolean,
}
const responseMembers = { headers: map(text, text, 'an object'), ...bodyMembers }

const identity = {
  id: shownField(text, ({ id }) => String(id)),
  /** When the request arrived, as ISO 8601. */
  at: shownField(moment, ({ atMs }) => new Date(atMs).toISOString()),
  scope: shownField(text, ({ exchange }) => exchange.scope),
  caller: shownField(caller, ({ exchange }) => exchange.caller),
  /** The id of the exchange with which the run of its agent began; its own if it belongs to no other. */
  run: shownField(text, ({ id, exchange }) => String(exchange.run ?? id)),
  /** The id of the message that it sent, in the outbox. */
  message: shownField(orNull(text), ({ exchange }) => exchange.message ?? null),
  /** The SQL that it ran on the tables, without its values, and as which role. */
  sql: shownField(optionalMember(closed({ role: text, text })), ({ exchange }) => exchange.sql),
}

const route = {
  /** For example `POST /v1/chat/completions`; null if the path or method is unknown. */
  endpoint: shownField(orNull(text), ({ exchange: { endpoint }, shown }) =>
    // If only the live platform knows the path, it is the requested one.
    shown(endpoint && `${endpoint.method} ${endpoint.path}`),
  ),
  /** The name of a documented endpoint, such as `chat`; null for every other. */
  name: shownField(orNull(text), ({ exchange }) => exchange.endpoint?.name ?? null),
  /** The call of an MCP server, such as `tools/call get_weather`; null for every other request. */
  call: shownField(orNull(text), ({ exchange, shown }) => shown(callOf(exchange))),
  mode: shownField(orNull(word(modes)), ({ exchange }) => exchange.mode ?? null),
  /**
   * What produced the answer, and what went wrong with it, in words: `rule "greeting"`, `live + fault cutBytes=3
   * (one-shot)`.
   */
  source: shownField(orNull(text), ({ exchange }) => sourceOf(exchange.outcome)),
}

const ending = {
  /** Null if no answer was sent. */
  status: shownField(orNull(wholeNumber), ({ exchange }) => exchange.outcome?.status || null),
  /** The error message that the client got. */
  error: shownField(orNull(text), ({ exchange, shown }) => shown(exchange.outcome?.error)),
  /** The code of that error, such as `no_rule_matches`. */
  code: shownField(orNull(text), ({ exchange }) => exchange.outcome?.code ?? null),
  /** A hint that only the journal shows. */
  hint: shownField(orNull(text), ({ exchange, shown }) => shown(exchange.outcome?.hint)),
  /** What to do about an error, unless the error says so itself. */
  advice: shownField(orNull(text), ({ exchange, shown }) => shown(adviceOn(exchange))),
  /** OpenAI's error for a request that it is known to refuse with 400, although it was answered here. */
  openaiRefuses: shownField(orNull(text), ({ exchange, shown }) => shown(exchange.openaiRefuses)),
  /** False if the client disconnected or the answer was cut. */
  complete: shownField(boolean, ({ exchange }) => exchange.outcome?.complete ?? false),
}

const use = {
  /** As reported by the answer, or counted here for a stream without usage; null if neither is known, or if the answer was cut. */
  tokens: shownField(orNull(closed({ prompt: wholeNumber, completion: wholeNumber })), ({ exchange }) =>
    tokensOf(exchange),
  ),
  /** From the request to the headers of the answer; null if none was sent. */
  firstByteMs: shownField(orNull(number), ({ exchange: { outcome, startedMs } }) =>
    outcome?.beganMs === undefined ? null : rounded(outcome.beganMs - startedMs),
  ),
  /** From the request to the first piece of a stream; null if the answer was sent in one piece. */
  firstTokenMs: shownField(orNull(number), ({ exchange }) => firstTokenMsOf(exchange)),
  /** From the request to the end. */
  durationMs: shownField(number, ({ durationMs }) => rounded(durationMs)),
}

const sessionToken = { id: text, user: text, token: text, expiresAt: wholeNumber }

const detailFields = {
  ...identity,
  /**
   * The session of Supabase Auth whose token the request used, the refresh token that it presented, and the session that
   * it got. Tokens are short digests, by which they can be told apart.
   */
  session: shownField(
    optionalMember(
      closed({
        used: optionalMember(closed(sessionToken)),
        refreshToken: optionalMember(text),
        granted: optionalMember(closed({ ...sessionToken, refreshToken: text })),
      }),
    ),
    ({ exchange }) => sessionOf(exchange),
  ),
  request: shownField(
    closed({ method: text, path: text, query: text, headers: map(text, text, 'an object'), ...bodyMembers }),
    ({ exchange, redaction, shownBytes }) => requestParts(exchange, redaction, shownBytes),
  ),
  ...route,
  /** The source as data: what produced the answer; null for an error of ours. */
  answeredBy: shownField(orNull(answeredBy), ({ exchange: { outcome }, redaction }) =>
    outcome?.answeredBy ? (redaction.value(outcome.answeredBy) as ValueOf<typeof answeredBy>) : null,
  ),
  /** The fault that applied to it. */
  fault: shownField(orNull(appliedFault), ({ exchange: { outcome }, redaction }) =>
    outcome?.fault ? (redaction.value(outcome.fault) as ValueOf<typeof appliedFault>) : null,
  ),
  /** Whether it can be repeated, because its whole body is kept. */
  repeatable: shownField(boolean, ({ exchange }) => isRepeatable(exchange)),
  /** Other information, for example the nearest rule if none matched, or the scopes to which it could belong. It may quote the prompt. */
  remark: shownField(orNull(text), ({ exchange, shown }) => {
    const remarks = [exchange.outcome?.remark?.(), scopesInWords(exchange)].filter(Boolean)
    return shown(remarks.length > 0 ? remarks.join(' ') : null)
  }),
  ...ending,
  /** The closest recording, and where it differs; absent if a recording of the request answered, or if nothing is recorded for the path. */
  nearest: shownField(
    optionalMember(closestRecording),
    ({ exchange: { nearest }, redaction }) => nearest && (redaction.value(nearest) as ClosestRecording),
  ),
  /** How the answer violates the contract. Also empty if it was not checked. */
  violations: shownField(arrayOf(violation), ({ exchange }): readonly Violation[] => exchange.violations ?? []),
  /**
   * The original answer of the live platform or a recording, if it was an error that was changed to fit the document.
   */
  upstream: shownField(
    optionalMember(closed(responseMembers)),
    view => view.exchange.outcome?.upstream && responseParts({ answer: view.exchange.outcome.upstream }, view),
  ),
  /** What was sent to the client, and when pieces of a stream were sent, in milliseconds after its head. */
  response: shownField(closed({ ...responseMembers, piecesAtMs: arrayOf(number) }), view => ({
    ...responseParts(view.exchange.outcome, view),
    piecesAtMs: view.exchange.outcome?.piecesAtMs ?? [],
  })),
  ...use,
}

const asked = {
  method: shownField(text, ({ exchange }) => exchange.method),
  path: shownField(text, ({ exchange, shown }) => shown(exchange.path) ?? ''),
  /** The requested model, if any. */
  model: shownField(orNull(text), ({ exchange, shown }) => shown(contentOf(exchange).model)),
  /** The beginning of the user's last message, if the request has messages. */
  prompt: shownField(orNull(text), ({ exchange, shown }) => shown(contentOf(exchange).prompt)),
  /** Whether a stream was requested; null if the request has no messages. */
  stream: shownField(orNull(boolean), ({ exchange }) => contentOf(exchange).stream),
  /** The address that a request to the auth backend names. */
  account: shownField(orNull(text), ({ exchange, shown }) => shown(accountOf(exchange))),
}

/** How many pieces of a stream were sent. */
const pieces = shownField(wholeNumber, ({ exchange }) => piecesOf(exchange))

/** Each text is cut if it is long, and the bodies of answers are not read. */
const listFields = {
  ...identity,
  ...asked,
  ...route,
  /** The fault that applied, and what asked for it. */
  fault: shownField(orNull(text), ({ exchange: { outcome }, shown }) =>
    shown(outcome?.fault?.happened ? appliedFaultInWords(outcome.fault) : null),
  ),
  /** Whether no rule or recording matched. */
  missed: shownField(boolean, ({ exchange }) => isMissed(exchange)),
  ...ending,
  /** The beginning of what the model said, or the tools that it asked for. */
  said: shownField(orNull(text), ({ exchange, shown }) => shown(exchange.spoken?.slice(0, MOST_SAID))),
  /** What can be done so that it gets another answer; more is possible if one asks for it. */
  repairs: shownField(arrayOf(closed({ id: word(repairIds), says: text })), ({ exchange }) => repairsFor(exchange)),
  /** The closest recording, and the first differences. */
  nearest: shownField(
    optionalMember(closestRecording),
    ({ exchange: { nearest }, redaction }) =>
      nearest &&
      (redaction.value({
        ...nearest,
        differences: nearest.differences.slice(0, MOST_DIFFERENCES),
      }) as ClosestRecording),
  ),
  /** How many findings there are about the answer. */
  findings: shownField(wholeNumber, ({ exchange }) => exchange.violations?.length ?? 0),
  requestBytes: shownField(wholeNumber, ({ exchange }) => bodyBytesOf(exchange)),
  responseBytes: shownField(wholeNumber, ({ exchange }) => responseBytesOf(exchange)),
  ...use,
  pieces,
  /** When some of them were sent, after the head: an even selection that includes the first and the last. */
  piecesAtMs: shownField(arrayOf(number), ({ exchange }) => selectionOf(exchange.outcome?.piecesAtMs ?? [])),
}

/** A request that has begun and not ended. Its id is none of the journal's. */
const flightFields = {
  ...identity,
  /** The run that it belongs to, if that is known already. */
  run: shownField(orNull(text), ({ run }) => (run === undefined ? null : String(run))),
  ...asked,
  ...route,
  /** The hold at which it waits; the feed knows. */
  hold: shownField(orNull(text), () => null),
  /** Null until the head of the answer was sent. */
  status: ending.status,
  pieces,
  /** How many tokens of a stream were sent so far. */
  tokens: shownField(wholeNumber, ({ exchange }) => tokensSoFarOf(exchange)),
}

/** Longer than what is shown, so that a secret at the end is recognized. */
const MOST_SAID = 2000
/** A row of the list cannot show more. */
const MOST_DIFFERENCES = 3

/** A bar in the list cannot show more times. */
const MOST_TIMES = 60

function selectionOf(times: readonly number[]): readonly number[] {
  if (times.length <= MOST_TIMES) return times
  const step = (times.length - 1) / (MOST_TIMES - 1)
  return Array.from({ length: MOST_TIMES }, (_, i) => times[Math.round(i * step)] ?? 0)
}

const formOf = <const F extends Fields>(fields: F) =>
  closed(
    Object.fromEntries(Object.entries(fields).map(([name, { form }]) => [name, form])) as {
      readonly [K in keyof F]: F[K]['form']
    },
  )

export const exchangeInDetail = formOf(detailFields)
export type JournalEntry = ValueOf<typeof exchangeInDetail>

export const exchangeInBrief = formOf(listFields)
export type JournalBrief = ValueOf<typeof exchangeInBrief>

const flight = formOf(flightFields)
/** A request in flight, as the feed of a list tells it. */
export type JournalFlight = ValueOf<typeof flight>

function valuesOf(fields: Fields, view: View): object {
  const values = Object.entries(fields).map(([name, { read }]) => [name, read(view)] as const)
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}

export function entryOf(journaled: JournaledExchange, redact: Redact, shownBytes = SHOWN_BYTES): JournalEntry {
  const redaction = redactionOf(journaled.exchange, redact)
  const shown: View['shown'] = text => (text == null ? null : redaction.text(text))
  return valuesOf(detailFields, { ...journaled, redaction, shown, shownBytes }) as JournalEntry
}

/** Longer texts in a list are cut to this length. */
const MOST_CHARACTERS = 300

function inShort(fields: Fields, journaled: JournaledExchange, redact: Redact): object {
  const redaction = redactionOf(journaled.exchange, redact)
  // Redacts first and shortens afterwards, since half a secret is not recognized.
  const shown: View['shown'] = text => (text == null ? null : shortened(redaction.text(text), MOST_CHARACTERS))
  return valuesOf(fields, { ...journaled, redaction, shown, shownBytes: 0 })
}

export const briefOf = (journaled: JournaledExchange, redact: Redact) =>
  inShort(listFields, journaled, redact) as JournalBrief

export const flightOf = (journaled: JournaledExchange, redact: Redact) =>
  inShort(flightFields, journaled, redact) as JournalFlight
