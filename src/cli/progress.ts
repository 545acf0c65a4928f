/** Progress of a long command: a bar on a terminal, and a line every few seconds elsewhere. */
import { canOverwrite } from './output.js'

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

export function createProgress(total: number, stream: Terminal, now: () => number = () => performance.now()): Progress {
  const startedMs = now()
  const isBar = canOverwrite(stream)
  let isDrawn = false
  let done = 0
  let name = ''
  let lastWriteMs = isBar ? Number.NEGATIVE_INFINITY : startedMs

  function writeIfDue(): void {
    const nowMs = now()
    if (nowMs - lastWriteMs < (isBar ? DRAW_MS : LINE_MS)) return
    lastWriteMs = nowMs
    const facts = `${Math.floor((done / total) * 100)} % ${done}/${total} ${Math.floor((nowMs - startedMs) / 1000)} s ${name}`
    isDrawn = isBar
    stream.write(isBar ? ERASE + barWith(done / total, facts, stream) : `${facts}\n`)
  }

  // Updates the time even while a single answer takes long.
  const tick = setInterval(writeIfDue, TICK_MS)

  return {
    at(current) {
      name = current
      writeIfDue()
    },
    step() {
      done++
      writeIfDue()
    },
    end() {
      clearInterval(tick)
      if (isDrawn) stream.write(ERASE)
      isDrawn = false
    },
  }
}

/** A bar followed by the facts, cut to the width of the terminal: a line that wraps could not be erased. */
function barWith(part: number, facts: string, { columns }: Terminal): string {
  const filled = Math.floor(part * BAR_WIDTH)
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled)
  return `${bar} ${facts}`.slice(0, (columns || 80) - 1)
}
