/** What the log tells of one request, with nothing secret in it: made from an exchange, or a part of what the journal says. */
import type { Exchange } from '../core/exchange.js'
import { sourceOf } from '../core/reply.js'
import { once } from '../core/work.js'
import type { JournalEntry } from '../journal/index.js'
import { credentialsOf, type Redact } from '../redact/index.js'

type Facts =
  | 'at'
  | 'caller'
  | 'endpoint'
  | 'mode'
  | 'source'
  | 'answeredBy'
  | 'fault'
  | 'remark'
  | 'status'
  | 'error'
  | 'code'
  | 'hint'
  | 'openaiRefuses'
  | 'complete'

/** Every entry of the journal is one. */
export interface Told extends Pick<JournalEntry, Facts | 'firstByteMs' | 'durationMs'> {
  readonly request: Pick<JournalEntry['request'], 'method' | 'path' | 'query'>
  readonly response: Pick<JournalEntry['response'], 'piecesAtMs'>
  /** There where the body of an error was made to fit the document. */
  readonly upstream?: object
}

/** Much less work than a whole entry, which only few lines need. */
export function toldOf(exchange: Exchange, redact: Redact): Told {
  const { method, path, query, caller, endpoint, mode = null, outcome, startedMs } = exchange
  const redaction = once(() => redact(credentialsOf(exchange, redact)))
  const open = (text: string | undefined) => (text === undefined ? null : redaction().text(text))
  return {
    at: new Date().toISOString(),
    caller,
    request: {
      method,
      // What is documented is no secret.
      path: path === endpoint?.path && !endpoint.isElsewhere ? path : redaction().text(path),
      query: query === '' ? '' : redaction().query(query),
    },
    endpoint: endpoint ? `${endpoint.method} ${endpoint.path}` : null,
    mode,
    source: sourceOf(outcome),
    answeredBy: outcome?.answeredBy ?? null,
    fault: outcome?.fault ?? null,
    remark: open(outcome?.remark?.()),
    status: outcome?.status || null,
    error: open(outcome?.error),
    code: outcome?.code ?? null,
    hint: open(outcome?.hint),
    openaiRefuses: open(exchange.openaiRefuses),
    complete: outcome?.complete ?? false,
    response: { piecesAtMs: outcome?.piecesAtMs ?? [] },
    // Nothing of it is told in the line.
    ...(outcome?.upstream && { upstream: {} }),
    firstByteMs: outcome?.beganMs === undefined ? null : rounded(outcome.beganMs - startedMs),
    durationMs: rounded(performance.now() - startedMs),
  }
}

const rounded = (ms: number) => Math.round(ms * 10) / 10
