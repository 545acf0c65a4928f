/** Progress of a long command: a bar on a terminal, and a line every few seconds elsewhere. */
import type { CommandLine } from './command.js'
import { isScreen } from './output.js'

export interface Progress {
  at(name: string): void
  step(): void
  end(): void
}

export const noProgress: Progress = { at() {}, step() {}, end() {} }

interface Terminal extends Pick<NodeJS.WriteStream, 'write'> {
  readonly isTTY?: boolean
  readonly columns?: number
}

const BAR_WIDTH = 20
/** Clears the line of the bar. */
const ERASE = '\r\x1b[2K'
/** Drawing more often than this would not be visible. */
const DRAW_MS = 80
const LINE_MS = 5000
const TICK_MS = 1000

/** Shorter work shows no bar. */
const SHORT_MS = 300

/** The flags that say how much is printed. */
export type Printing = Pick<CommandLine['flags'], 'json' | 'quiet'>

/** For work on files: a bar on a terminal, and nothing elsewhere or with --json or --quiet. */
export const fileProgress = (total: number, { json, quiet }: Printing): Progress =>
  json || quiet || !process.stderr.isTTY ? noProgress : createProgress(total, process.stderr, { afterMs: SHORT_MS })

/** No bar is drawn before `afterMs`. */
export function createProgress(
  total: number,
  stream: Terminal,
  { now = () => performance.now(), afterMs = 0 }: { readonly now?: () => number; readonly afterMs?: number } = {},
): Progress {
  const startedMs = now()
  const isBar = isScreen(stream)
  let isDrawn = false
  let done = 0
  let name = ''
  let saidAtMs = isBar ? startedMs + afterMs - DRAW_MS : startedMs

  function sayWhenDue(): void {
    const nowMs = now()
    if (nowMs - saidAtMs < (isBar ? DRAW_MS : LINE_MS)) return
    saidAtMs = nowMs
    const part = done / total
    const facts = `${Math.floor(part * 100)} % ${done}/${total} ${Math.floor((nowMs - startedMs) / 1000)} s ${name}`
    if (!isBar) return void stream.write(`${facts}\n`)
    isDrawn = true
    // A longer line would wrap and could not be erased.
    stream.write(ERASE + `${barOf(part)} ${facts}`.slice(0, (stream.columns || 80) - 1))
  }

  // Keeps the time moving while a single answer takes long.
  const tick = setInterval(sayWhenDue, TICK_MS)

  return {
    at(current) {
      name = current
      sayWhenDue()
    },
    step() {
      done++
      sayWhenDue()
    },
    end() {
      clearInterval(tick)
      if (isDrawn) stream.write(ERASE)
      isDrawn = false
    },
  }
}

function barOf(part: number): string {
  const filled = Math.floor(part * BAR_WIDTH)
  return '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled)
}
