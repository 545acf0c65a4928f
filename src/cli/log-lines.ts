/** Writes the request log, and keeps noise together: what comes again and again is one line with a number. */
import type { LogLine } from './log-line.js'
import type { TerminalOutput } from './output.js'
import { type Paper, requestRows } from './request-log.js'

export interface LogLines {
  /** `more` are lines that belong to this one alone. */
  request(told: LogLine, more?: readonly string[]): void
  /** What else there is to be said. */
  line(text: string): void
  /** Somebody else is going to write on the same terminal. */
  interrupt(): void
  /** The terminal has another size: its lines are not where they were. */
  resized(): void
  /** Writes what is still held back. */
  end(): void
}

interface Sheet {
  readonly output: TerminalOutput
  readonly paper: () => Paper & { readonly height?: number | undefined }
  /** Whether what was written last can be written over: a terminal, and nobody else writes on it. */
  readonly isErasable: boolean
}

/** Lines that come again. */
interface Repeated {
  readonly key: string
  told: LogLine
  rows: readonly string[]
  count: number
  /** How many of them nobody was told of yet. */
  untold: number
}

/** So many different lines are watched at the same time. Each of them is drawn again with any other: they are the last on the screen. */
const MOST_WATCHED = 6
/** A terminal is drawn no more often than eyes can follow. */
const DRAW_MS = 80
/** Where nobody knows how many lines a terminal has. */
const LOWEST = 24
/** Of no more paths preflights are held back. */
const MOST_HELD = 100
/** So long a preflight waits for the request that it asks about. */
const PREFLIGHT_MS = 2000

export function createLogLines({ output, paper, isErasable }: Sheet): LogLines {
  let watched: Repeated[] = []
  let drawing: NodeJS.Timeout | undefined
  /** Of each path. */
  const preflights = new Map<string, { told: LogLine; count: number }>()
  let waiting: NodeJS.Timeout | undefined

  function request(told: LogLine, more: readonly string[] = []): void {
    if (more.length === 0 && isPreflight(told)) return hold(told)
    write(told, noteOf(told.request.path), more)
  }

  function write(told: LogLine, note: string, more: readonly string[]): void {
    if (more.length > 0 || !comesAgain(told)) {
      settle()
      return show([...requestRows(told, paper(), note), ...more])
    }
    const key = keyOf(told)
    const known = watched.find(one => one.key === key)
    if (known) return again(known, told)
    const rows = requestRows(told, paper(), note)
    draw()
    if (watched.length >= MOST_WATCHED || heightOf(watched) + rows.length >= (paper().height ?? LOWEST)) settle()
    watched.push({ key, told, rows, count: 1, untold: 0 })
    show(rows)
  }

  function again(known: Repeated, told: LogLine): void {
    known.told = told
    known.count++
    known.untold++
    if (isErasable) drawing ??= setTimeout(draw, DRAW_MS).unref()
  }

  /** Writes all that is watched once more, over itself. */
  function draw(): void {
    clearTimeout(drawing)
    drawing = undefined
    if (!isErasable || watched.every(({ untold }) => untold === 0)) return
    output.write(`\x1b[${heightOf(watched)}A\r\x1b[0J`)
    for (const one of watched.filter(({ untold }) => untold > 0)) {
      one.rows = requestRows(one.told, paper(), `×${one.count}`)
      one.untold = 0
    }
    show(watched.flatMap(({ rows }) => rows))
  }

  /** What was watched is not written over any more. */
  function settle(): void {
    draw()
    leave()
  }

  function leave(): void {
    clearTimeout(drawing)
    drawing = undefined
    for (const { told, untold } of watched) {
      const { colors } = paper()
      // What to do about it has been said.
      if (untold > 0) show(requestRows(told, { colors }, `(and ${untold} more like it)`).slice(0, 1))
    }
    watched = []
  }

  function show(rows: readonly string[]): void {
    for (const row of rows) output.line(row)
  }

  function hold(told: LogLine): void {
    const held = preflights.get(told.request.path)
    preflights.set(told.request.path, { told, count: (held?.count ?? 0) + 1 })
    if (preflights.size > MOST_HELD) return release()
    waiting ??= setTimeout(release, PREFLIGHT_MS).unref()
  }

  /** No request came after them, or none that is over. */
  function release(): void {
    clearTimeout(waiting)
    waiting = undefined
    for (const { told, count } of preflights.values()) write(told, count > 1 ? `(${count} preflights)` : '', [])
    preflights.clear()
  }

  function noteOf(path: string): string {
    const count = preflights.get(path)?.count ?? 0
    preflights.delete(path)
    if (count === 0) return ''
    return count === 1 ? '(after a preflight)' : `(after ${count} preflights)`
  }

  return {
    request,
    interrupt: settle,
    resized: leave,
    line(text) {
      settle()
      output.line(text)
    },
    end() {
      release()
      settle()
    },
  }
}

const heightOf = (watched: readonly Repeated[]) => watched.reduce((sum, { rows }) => sum + rows.length, 0)

const isPreflight = ({ request, status, complete }: LogLine) =>
  request.method === 'OPTIONS' && status !== null && status < 300 && complete

/** What asks without changing anything, and what is refused: clients do that again and again. */
const comesAgain = ({ request, status, complete, response }: LogLine) =>
  complete &&
  status !== null &&
  response.piecesAtMs.length === 0 &&
  (status >= 400 || /^(GET|HEAD|OPTIONS)$/.test(request.method))

const keyOf = ({ request, caller, endpoint, mode, source, status, error, hint, remark }: LogLine) =>
  JSON.stringify([request, caller, endpoint, mode, source, status, error, hint, remark])
