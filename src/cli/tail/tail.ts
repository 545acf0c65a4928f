/** `standin tail`: follows the request log of a running Standin from another terminal. */
import { counted } from '../amounts.js'
import type { CommandLine } from '../arguments.js'
import { loadBodyLines } from '../log-line.js'
import { createLogLines } from '../log-lines.js'
import { colorsFor, createOutput, isScreen, jsonLine, sizeOf, type TerminalOutput } from '../output.js'
import { stopOnSignals } from '../stop-signals.js'
import { type ControlAddress, placeOf, tailOptionsIn } from './options.js'
import { type News, newsOf } from './stream.js'

/** Runs until a signal stops it. Rejects with a UsageError, a StartError or a ProblemsError. */
export async function tail(commandLine: CommandLine): Promise<void> {
  const wish = tailOptionsIn(commandLine)
  const place = placeOf(commandLine)
  const stopping = stopOnSignals()
  const output = createOutput(process.stdout)
  const say = await sayingIn(commandLine, output, place)
  for await (const news of newsOf(place, wish, stopping)) {
    say.news(news)
  }
  say.end()
  output.flush()
}

interface Say {
  news(news: News): void
  end(): void
}

async function sayingIn(
  { json, quiet, given }: CommandLine,
  output: TerminalOutput,
  place: ControlAddress,
): Promise<Say> {
  const colors = colorsFor(process.stdout)
  const { stdout } = process
  const log = createLogLines({
    output,
    paper: () => ({ colors, ...sizeOf(stdout) }),
    isErasable: isScreen(stdout),
  })
  stdout.on('resize', log.resized)
  const bodies = await loadBodyLines(given.has('verbose') && !json)

  /** Goes to standard error, so that a pipe gets only the requests. */
  function note(sentence: string): void {
    if (quiet) return
    log.interrupt()
    output.flush()
    console.error(colorsFor(process.stderr).dim(sentence))
  }

  return {
    end: log.end,
    news(news) {
      switch (news.kind) {
        case 'exchange':
          return json ? output.line(jsonLine(news.entry)) : log.request(news.entry, bodies?.(news.entry, colors))
        case 'skipped':
          return note(`${counted(news.count, 'request')} not shown: there were too many at once.`)
        case 'lost':
          return note(`The connection to ${place.url} has ended. Trying again until it is back.`)
        case 'connected':
          return news.again
            ? note(news.restarted ? `${place.url} was restarted.` : `Connected to ${place.url} again.`)
            : note(`Following ${place.url}. Ctrl-C ends it.`)
      }
    },
  }
}
