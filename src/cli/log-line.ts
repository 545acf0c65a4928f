/** What a line of the request log shows, without secrets. Made from an exchange; a journal entry can be used as well. */
import { mcpServers } from '../config/mcp-options.js'
import type { Config } from '../config/schema.js'
import { type Exchange, sourceOf } from '../core/exchange.js'
import { once } from '../core/work.js'
import { callOf, type JournalEntry } from '../journal/index.js'
import { credentialsOf, type Redact } from '../redact/index.js'

/** Fields that only a whole journal entry has. */
type EntryOnlyFields = 'id' | 'scope' | 'repeatable' | 'nearest' | 'violations' | 'tokens' | 'firstTokenMs'

/** Journal entries have all of its fields. */
export interface LogLine extends Omit<JournalEntry, EntryOnlyFields | 'request' | 'response' | 'upstream'> {
  readonly request: Pick<JournalEntry['request'], 'method' | 'path' | 'query'>
  readonly response: Pick<JournalEntry['response'], 'piecesAtMs'>
  /** Present if an error body was rewritten to the documented format. */
  readonly upstream?: object
}

/** Much cheaper than a whole journal entry, which is only needed for --verbose. */
export function logLineOf(exchange: Exchange, redact: Redact, callOf?: CallOf): LogLine {
  const { method, path, query, caller, endpoint, mode = null, outcome, startedMs } = exchange
  const redaction = once(() => redact(credentialsOf(exchange, redact)))
  const redacted = (text: string | null | undefined) => (text == null ? null : redaction().text(text))
  return {
    at: new Date().toISOString(),
    caller,
    request: {
      method,
      // Documented paths contain no secrets.
      path: path === endpoint?.path && !endpoint.isUndocumented ? path : redaction().text(path),
      query: query === '' ? '' : redaction().query(query),
    },
    endpoint: endpoint ? `${endpoint.method} ${endpoint.path}` : null,
    call: redacted(callOf?.(exchange)),
    mode,
    source: sourceOf(outcome),
    answeredBy: outcome?.answeredBy ?? null,
    fault: outcome?.fault ?? null,
    remark: redacted(outcome?.remark?.()),
    status: outcome?.status || null,
    error: redacted(outcome?.error),
    code: outcome?.code ?? null,
    hint: redacted(outcome?.hint),
    openaiRefuses: redacted(exchange.openaiRefuses),
    complete: outcome?.complete ?? false,
    response: { piecesAtMs: outcome?.piecesAtMs ?? [] },
    // Only its presence matters to the line, not its content.
    ...(outcome?.upstream && { upstream: {} }),
    firstByteMs: outcome?.beganMs === undefined ? null : rounded(outcome.beganMs - startedMs),
    durationMs: rounded(performance.now() - startedMs),
  }
}

const rounded = (ms: number) => Math.round(ms * 10) / 10

type CallOf = (exchange: Exchange) => string | null

/** Returns a function that names the call of an MCP server; `undefined` without MCP servers, to save reading bodies. */
export const callsOf = ({ mcp }: Config): CallOf | undefined => (mcpServers(mcp).size === 0 ? undefined : callOf)
