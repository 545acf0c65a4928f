/** `standin verify`: judges a target by each rule of the platform's document, and says where it does not keep it. */
import { clauses, createTarget, judgeAll } from '../contract/index.js'
import { ProblemsError } from '../core/problem.js'
import type { CommandLine } from './arguments.js'
import { colorsFor, noColors } from './output.js'
import { createProgress, noProgress } from './progress.js'
import { requireWritable, writeReport } from './report-file.js'
import { EXIT_STOPPED, stopOnSignals } from './stop-signals.js'
import { against, type Other, openOther } from './verify-against.js'
import { countLine, countOf, effort, type Verified } from './verify-count.js'
import { brokenAtLive, isFailure } from './verify-differences.js'
import { jsonOf } from './verify-json.js'
import { junitOf } from './verify-junit.js'
import { markdownOf } from './verify-markdown.js'
import { textOf } from './verify-report.js'
import { type OpenTarget, openTarget, ownTarget } from './verify-target.js'
import { type Reporter, type Wish, wishIn } from './verify-wish.js'

const EXIT_BROKEN = 1

/**
 * Prints what it finds; the exit code is 1 when a documented clause is broken, or none could be checked. Rejects with a UsageError for flags that
 * cannot be followed, and with a ProblemsError when the target cannot be reached.
 */
export async function verify(commandLine: CommandLine): Promise<void> {
  const wish = wishIn(commandLine)
  if (wish.output !== undefined) requireWritable('--output', wish.output)
  const other = wish.against === undefined ? undefined : await openOther(commandLine, wish, process.env)
  const open = await (other ? ownTarget(commandLine) : openTarget(commandLine, process.env))
  const signal = stopOnSignals()
  try {
    const verified = await judged({ ...open, other }, wish, commandLine, signal)
    const report = reportOf(verified, wish, commandLine)
    process.exitCode = signal.aborted ? EXIT_STOPPED : exitCodeOf(verified)
    if (wish.output === undefined) process.stdout.write(report)
    if (wish.output === undefined) return
    if (!commandLine.quiet) console.error(`${countLine(countOf(verified))} (${effort(verified)})`)
    await writeReport(wish.output, report)
  } finally {
    await open.close()
  }
}

async function judged(
  { options, isOwn, other }: Omit<OpenTarget, 'close'> & { readonly other: Other | undefined },
  wish: Wish,
  { quiet }: CommandLine,
  signal: AbortSignal,
): Promise<Verified> {
  const { wanted, maxCalls, isStrict, output, reporter } = wish
  const startedMs = performance.now()
  const target = createTarget({ ...options, maxCalls, signal })
  const isSilent = quiet || (reporter !== 'text' && output === undefined && !process.stderr.isTTY)
  const progress = isSilent
    ? noProgress
    : createProgress(wanted.length * (other?.kind === 'live' ? 2 : 1), process.stderr)
  const judging = async () => {
    const findings = await judgeAll({
      ...{ target, wanted, table: clauses },
      begun: ({ id }) => progress.at(id),
      ended: progress.step,
    })
    return { findings, against: other && (await against(target, other, { wish, progress, signal })) }
  }
  const found = await judging().finally(progress.end)
  const why = target.unreachable()
  if (why !== undefined && !signal.aborted) {
    throw new ProblemsError([{ origin: target.url, sentence: `cannot be reached (${why}).` }])
  }
  const seconds = (performance.now() - startedMs) / 1000
  return { url: target.url, isOwn, ...found, calls: target.calls(), maxCalls, seconds, isStrict }
}

const reports: Readonly<Record<Exclude<Reporter, 'text'>, (verified: Verified) => string>> = {
  json: jsonOf,
  markdown: markdownOf,
  junit: junitOf,
}

function reportOf(verified: Verified, { reporter, output }: Wish, { quiet }: CommandLine): string {
  if (reporter !== 'text') return reports[reporter](verified)
  // Files have no use for colours.
  const colors = output === undefined ? colorsFor(process.stdout) : noColors
  return textOf(verified, { colors, isQuiet: quiet })
}

function exitCodeOf(verified: Verified): number {
  const { held, broken, different } = countOf(verified)
  const { against } = verified
  if (broken > 0) return EXIT_BROKEN
  if (
    against &&
    (against.differences.some(difference => isFailure(difference, against)) || brokenAtLive(against).length > 0)
  )
    return EXIT_BROKEN
  if (held + different > 0) return 0
  console.error('Nothing could be checked.')
  return EXIT_BROKEN
}
