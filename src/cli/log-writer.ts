/** Writes the request log, and collapses repeated requests into one line with a count. */
import type { LogLine } from './log-line.js'
import type { TerminalOutput } from './output.js'
import { type LogLayout, requestRows } from './request-log.js'

interface LogTarget {
  readonly output: TerminalOutput
  readonly layout: () => LogLayout & { readonly height?: number | undefined }
  /** Whether earlier lines can be overwritten, as on a terminal that only this log writes to. */
  readonly canOverwrite: boolean
}

/** A line that counts its repetitions. */
interface TrackedLine {
  readonly key: string
  line: LogLine
  rows: readonly string[]
  count: number
  /** How many repetitions have not been printed yet. */
  unprinted: number
}

/** At most this many lines are tracked at once. They are the last on the screen and are all redrawn together. */
const MOST_TRACKED = 6
/** Drawing more often than this would not be visible. */
const DRAW_MS = 80
/** The assumed height of a terminal that does not report its own. */
const DEFAULT_HEIGHT = 24
/** Preflights are held back for at most this many paths. */
const MOST_HELD = 100
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
    /** Called before other text is written to the same terminal. */
    interrupt: repeats.finish,
    /** The terminal was resized, so its lines have moved. */
    onResize: repeats.stopTracking,
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

/** Writes lines that may be repeated, and shows the number of repetitions in them while they can be overwritten. */
function createRepeats(target: LogTarget) {
  const tracked: TrackedLine[] = []
  const drawTimer = createTimer(() => draw(), DRAW_MS)

  function write(line: LogLine, note: string): void {
    const key = keyOf(line)
    const same = tracked.find(other => other.key === key)
    if (same) return countRepetition(same, line)
    const rows = requestRows(line, target.layout(), note)
    draw()
    const height = totalRows(tracked) + rows.length
    if (tracked.length >= MOST_TRACKED || height >= (target.layout().height ?? DEFAULT_HEIGHT)) finish()
    tracked.push({ key, line, rows, count: 1, unprinted: 0 })
    writeRows(target, rows)
  }

  function countRepetition(same: TrackedLine, line: LogLine): void {
    same.line = line
    same.count++
    same.unprinted++
    if (target.canOverwrite) drawTimer.start()
  }

  function draw(): void {
    drawTimer.end()
    if (target.canOverwrite && tracked.some(({ unprinted }) => unprinted > 0)) redraw(target, tracked)
  }

  /** Draws the tracked lines for the last time and stops tracking them. */
  function finish(): void {
    draw()
    stopTracking()
  }

  function stopTracking(): void {
    drawTimer.end()
    for (const same of tracked.splice(0)) showUnprinted(target, same)
  }

  return { write, finish, stopTracking }
}

function redraw(target: LogTarget, tracked: readonly TrackedLine[]): void {
  target.output.write(`\x1b[${totalRows(tracked)}A\r\x1b[0J`)
  for (const same of tracked.filter(({ unprinted }) => unprinted > 0)) {
    same.rows = requestRows(same.line, target.layout(), `×${same.count}`)
    same.unprinted = 0
  }
  for (const { rows } of tracked) writeRows(target, rows)
}

/** Says how often a line was repeated. The first row only: the advice has already been printed. */
function showUnprinted(target: LogTarget, { line, unprinted }: TrackedLine): void {
  const { colors } = target.layout()
  if (unprinted > 0) writeRows(target, requestRows(line, { colors }, `(and ${unprinted} more like it)`).slice(0, 1))
}

function writeRows({ output }: LogTarget, rows: readonly string[]): void {
  for (const row of rows) output.line(row)
}

/** Holds preflights back until the request that they announce. Preflights without a request are written after a while. */
function createPreflights(write: (line: LogLine, note: string) => void) {
  /** By path. */
  const held = new Map<string, { line: LogLine; count: number }>()
  const timer = createTimer(() => release(), PREFLIGHT_MS)

  function release(): void {
    timer.end()
    for (const { line, count } of held.values()) write(line, count > 1 ? `(${count} preflights)` : '')
    held.clear()
  }

  return {
    release,
    hold(line: LogLine): void {
      const { path } = line.request
      held.set(path, { line, count: (held.get(path)?.count ?? 0) + 1 })
      if (held.size > MOST_HELD) return release()
      timer.start()
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

/** Runs `work` some time after the first `start`, unless it is ended before. */
function createTimer(work: () => void, ms: number) {
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

const totalRows = (tracked: readonly TrackedLine[]) => tracked.reduce((sum, { rows }) => sum + rows.length, 0)

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
