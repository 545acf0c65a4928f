/** Writes the request log, and collapses repeated requests into one line with a count. */
import type { LogLine } from './log-line.js'
import type { TerminalOutput } from './output.js'
import { type LogOutput, requestRows } from './request-log.js'

interface Sheet {
  readonly output: TerminalOutput
  readonly paper: () => LogOutput & { readonly height?: number | undefined }
  /** Whether earlier lines can be overwritten: on a terminal that only this log writes to. */
  readonly isErasable: boolean
}

interface Repeated {
  readonly key: string
  line: LogLine
  rows: readonly string[]
  count: number
  /** How many repetitions have not been printed yet. */
  untold: number
}

/** At most this many lines are tracked at once. They are the last on the screen and are all redrawn together. */
const MOST_WATCHED = 6
/** Drawing more often than this would not be visible. */
const DRAW_MS = 80
/** Assumed height of a terminal that does not report its own. */
const LOWEST = 24
/** Preflights are held back for at most this many paths. */
const MOST_HELD = 100
/** How long a preflight waits for the request that it announces. */
const PREFLIGHT_MS = 2000

export function createLogLines(sheet: Sheet) {
  const { output, paper } = sheet
  const repeats = createRepeats(sheet)
  const preflights = createPreflights((line, note) => write(line, note, []))

  function write(line: LogLine, note: string, more: readonly string[]): void {
    if (more.length === 0 && comesAgain(line)) return repeats.write(line, note)
    repeats.settle()
    for (const row of [...requestRows(line, paper(), note), ...more]) output.line(row)
  }

  return {
    /** Called before other text is written to the same terminal. */
    interrupt: repeats.settle,
    /** The terminal was resized, so its lines have moved. */
    resized: repeats.leave,
    /** `more` are extra lines that belong to this request only. */
    request(line: LogLine, more: readonly string[] = []): void {
      if (more.length === 0 && isPreflight(line)) preflights.hold(line)
      else write(line, preflights.noteOn(line.request.path), more)
    },
    /** Writes a line that is not about a request. */
    line(text: string): void {
      repeats.settle()
      output.line(text)
    },
    /** Writes what is still held back. */
    end(): void {
      preflights.release()
      repeats.settle()
    },
  }
}

/** Writes lines that may come again, and counts the repetitions in them while they can be overwritten. */
function createRepeats(sheet: Sheet) {
  const watched: Repeated[] = []
  const drawing = createDelay(() => draw(), DRAW_MS)

  function write(line: LogLine, note: string): void {
    const key = keyOf(line)
    const known = watched.find(one => one.key === key)
    if (known) return again(known, line)
    const rows = requestRows(line, sheet.paper(), note)
    draw()
    if (watched.length >= MOST_WATCHED || heightOf(watched) + rows.length >= (sheet.paper().height ?? LOWEST)) settle()
    watched.push({ key, line, rows, count: 1, untold: 0 })
    show(sheet, rows)
  }

  function again(known: Repeated, line: LogLine): void {
    known.line = line
    known.count++
    known.untold++
    if (sheet.isErasable) drawing.start()
  }

  function draw(): void {
    drawing.end()
    if (sheet.isErasable && watched.some(({ untold }) => untold > 0)) redraw(sheet, watched)
  }

  /** Draws the tracked lines for the last time and stops tracking them. */
  function settle(): void {
    draw()
    leave()
  }

  function leave(): void {
    drawing.end()
    for (const one of watched.splice(0)) showUntold(sheet, one)
  }

  return { write, settle, leave }
}

function redraw(sheet: Sheet, watched: readonly Repeated[]): void {
  sheet.output.write(`\x1b[${heightOf(watched)}A\r\x1b[0J`)
  for (const one of watched.filter(({ untold }) => untold > 0)) {
    one.rows = requestRows(one.line, sheet.paper(), `×${one.count}`)
    one.untold = 0
  }
  for (const { rows } of watched) show(sheet, rows)
}

/** Says how often a line was repeated. The first row only: the advice has already been printed. */
function showUntold(sheet: Sheet, { line, untold }: Repeated): void {
  const { colors } = sheet.paper()
  if (untold > 0) show(sheet, requestRows(line, { colors }, `(and ${untold} more like it)`).slice(0, 1))
}

function show({ output }: Sheet, rows: readonly string[]): void {
  for (const row of rows) output.line(row)
}

/**
 * Holds preflights back until the request that they announce is written. Those without one are written after a while.
 */
function createPreflights(write: (line: LogLine, note: string) => void) {
  /** By path. */
  const held = new Map<string, { line: LogLine; count: number }>()
  const waiting = createDelay(() => release(), PREFLIGHT_MS)

  function release(): void {
    waiting.end()
    for (const { line, count } of held.values()) write(line, count > 1 ? `(${count} preflights)` : '')
    held.clear()
  }

  return {
    release,
    hold(line: LogLine): void {
      const { path } = line.request
      held.set(path, { line, count: (held.get(path)?.count ?? 0) + 1 })
      if (held.size > MOST_HELD) return release()
      waiting.start()
    },
    /** The note about earlier preflights on the line of a request. */
    noteOn(path: string): string {
      const count = held.get(path)?.count ?? 0
      held.delete(path)
      if (count === 0) return ''
      return count === 1 ? '(after a preflight)' : `(after ${count} preflights)`
    },
  }
}

/** Runs `work` some time after the first `start`, unless it is ended before. */
function createDelay(work: () => void, ms: number) {
  let timer: NodeJS.Timeout | undefined
  return {
    start(): void {
      timer ??= setTimeout(work, ms).unref()
    },
    end(): void {
      clearTimeout(timer)
      timer = undefined
    },
  }
}

const heightOf = (watched: readonly Repeated[]) => watched.reduce((sum, { rows }) => sum + rows.length, 0)

const isPreflight = ({ request, status, complete }: LogLine) =>
  request.method === 'OPTIONS' && status !== null && status < 300 && complete

/** Reads and refused requests, which clients often repeat. */
const comesAgain = ({ request, status, complete, response }: LogLine) =>
  complete &&
  status !== null &&
  response.piecesAtMs.length === 0 &&
  (status >= 400 || /^(GET|HEAD|OPTIONS)$/.test(request.method))

const keyOf = ({ request, caller, endpoint, call, mode, source, status, error, hint, remark }: LogLine) =>
  JSON.stringify([request, caller, endpoint, call, mode, source, status, error, hint, remark])
