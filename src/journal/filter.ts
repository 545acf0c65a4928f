/** Says which exchanges somebody wants to see. */
import * as v from 'valibot'
import { closed, optional, word } from '../core/check.js'
import { credentialKinds, type Exchange, modes } from '../core/exchange.js'
import { glob } from '../core/glob.js'
import type { Kept } from './entry.js'

const text = v.string('text')
const status = v.union(
  [v.pipe(v.number(), v.integer(), v.minValue(100), v.maxValue(999)), v.pipe(text, v.regex(/^[1-9](\d\d|xx)$/))],
  'a status such as 429, or a class such as 4xx',
)

/** What all that are wanted have in common. */
export const journalFilter = closed({
  method: optional(text, 'The method: POST.'),
  path: optional(text, 'The path; * stands for anything.'),
  status: optional(status, 'The status, or a class such as 4xx.'),
  mode: optional(word(modes), 'Where the answer came from.'),
  caller: optional(word(['anonymous', 'stranger', ...credentialKinds]), 'Which kind of credential was shown.'),
  source: optional(text, 'A part of what gave the answer: a rule, a recording.'),
  scope: optional(text, 'The scope that asked.'),
  text: optional(text, 'A part of the body of the request.'),
  complete: optional(v.boolean('true or false'), 'Whether the answer came to its end.'),
  after: optional(text, 'The id of the one behind which to begin.'),
})
export type JournalFilter = v.InferOutput<typeof journalFilter>

/** A test for what the journal keeps. */
export function filterOf(filter: JournalFilter): (kept: Kept) => boolean {
  const { method, path, status, mode, caller, source, scope, text, complete, after } = filter
  const pattern = path === undefined ? undefined : glob(path)
  const first = after === undefined ? 0 : Number(after)
  return ({ id, exchange }) => {
    const { outcome } = exchange
    return (
      id > first &&
      (method === undefined || exchange.method === method.toUpperCase()) &&
      (pattern === undefined || pattern.test(exchange.path)) &&
      (status === undefined || isOf(String(status), outcome?.status ?? 0)) &&
      (mode === undefined || exchange.mode === mode) &&
      (caller === undefined || exchange.caller.kind === caller) &&
      (source === undefined || (outcome?.source ?? '').includes(source)) &&
      (scope === undefined || exchange.scope === scope) &&
      (complete === undefined || (outcome?.complete ?? false) === complete) &&
      (text === undefined || saysInBody(exchange, text))
    )
  }
}

const isOf = (wanted: string, status: number) =>
  wanted.endsWith('xx') ? String(status).startsWith(wanted.charAt(0)) : String(status) === wanted

const saysInBody = ({ body }: Exchange, text: string) => body?.toString('utf8').includes(text) ?? false
