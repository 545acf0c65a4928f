/** Writes the request log, and counts repetitions of the last request in one line. */
import type { LogLine } from './log-line.js'
import type { TerminalOutput } from './output.js'
import { type LogLayout, requestRows } from './request-log.js'

interface LogTarget {
  readonly output: TerminalOutput
  readonly layout: () => LogLayout
  /** Whether the last line can be overwritten, as on a terminal that only this log writes to. */
  readonly canOverwrite: boolean
}

/** How long a preflight waits for the request that it announces. */
const PREFLIGHT_MS = 2000

export function createLogWriter(target: LogTarget) {
  const { output, layout } = target
  const repeats = createRepeats(target)
  const preflights = createPreflights((line, note) => write(line, note, []))

  function write(line: LogLine, note: string, more: readonly string[]): void {
    if (more.length === 0 && isRepeatable(line)) return repeats.write(line, note)
    repeats.finish()
    for (const row of [...requestRows(line, layout(), note), ...more]) output.line(row)
  }

  return {
    /** Called before other text is written to the same terminal, and when it was resized, so that its lines have moved. */
    interrupt: repeats.finish,
    /** `more` are extra lines that belong to this request only. */
    request(line: LogLine, more: readonly string[] = []): void {
      if (more.length === 0 && isPreflight(line)) preflights.hold(line)
      else write(line, preflights.noteFor(line.request.path), more)
    },
    /** Writes a line that is not about a request. */
    line(text: string): void {
      repeats.finish()
      output.line(text)
    },
    /** Writes what is still held back. */
    end(): void {
      preflights.release()
      repeats.finish()
    },
  }
}

/** Writes lines that may be repeated: the last one is overwritten with its count, or its repetitions are counted in a line of their own. */
function createRepeats({ output, layout, canOverwrite }: LogTarget) {
  let last: { readonly key: string; line: LogLine; height: number; count: number } | undefined

  function writeRows(line: LogLine, note: string): number {
    const rows = requestRows(line, layout(), note)
    for (const row of rows) output.line(row)
    return rows.length
  }

  function finish(): void {
    if (last && last.count > 1 && !canOverwrite) {
      // The first row only: the advice has already been printed.
      const [row = ''] = requestRows(last.line, { colors: layout().colors }, `(and ${last.count - 1} more like it)`)
      output.line(row)
    }
    last = undefined
  }

  return {
    finish,
    write(line: LogLine, note: string): void {
      const key = keyOf(line)
      if (last?.key !== key) {
        finish()
        last = { key, line, height: writeRows(line, note), count: 1 }
        return
      }
      last.count++
      last.line = line
      if (!canOverwrite) return
      output.write(`\x1b[${last.height}A\r\x1b[0J`)
      last.height = writeRows(line, `×${last.count}`)
    },
  }
}

/** Holds preflights back until the request that they announce. Preflights without a request are written after a while. */
function createPreflights(write: (line: LogLine, note: string) => void) {
  /** By path. */
  const held = new Map<string, { line: LogLine; count: number }>()
  let timer: NodeJS.Timeout | undefined

  function release(): void {
    clearTimeout(timer)
    timer = undefined
    for (const { line, count } of held.values()) write(line, count > 1 ? `(${count} preflights)` : '')
    held.clear()
  }

  return {
    release,
    hold(line: LogLine): void {
      const { path } = line.request
      held.set(path, { line, count: (held.get(path)?.count ?? 0) + 1 })
      timer ??= setTimeout(release, PREFLIGHT_MS).unref()
    },
    /** The note about earlier preflights on the line of a request. */
    noteFor(path: string): string {
      const count = held.get(path)?.count ?? 0
      held.delete(path)
      if (count === 0) return ''
      return count === 1 ? '(after a preflight)' : `(after ${count} preflights)`
    },
  }
}

const isPreflight = ({ request, status, complete }: LogLine) =>
  request.method === 'OPTIONS' && status !== null && status < 300 && complete

/** Reads and refused requests, which clients often repeat. */
const isRepeatable = ({ request, status, complete, response }: LogLine) =>
  complete &&
  status !== null &&
  response.piecesAtMs.length === 0 &&
  (status >= 400 || /^(GET|HEAD|OPTIONS)$/.test(request.method))

const keyOf = ({ request, caller, endpoint, call, mode, source, status, error, hint, remark }: LogLine) =>
  JSON.stringify([request, caller, endpoint, call, mode, source, status, error, hint, remark])
