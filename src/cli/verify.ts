/** `standin verify`: checks a target against each rule of the platform's document, and reports which ones it breaks. */
import { ProblemsError } from '../check/problem.js'
import { judgeAll } from '../contract/clause.js'
import { clauses } from '../contract/clauses/index.js'
import { createTarget } from '../contract/target.js'
import type { CommandLine } from './arguments.js'
import { colorsFor, noColors } from './output.js'
import { createProgress, noProgress } from './progress.js'
import { requireWritable, writeReport } from './report.js'
import { EXIT_STOPPED, stopOnSignals } from './stop-signals.js'
import { against, type Other, openOther } from './verify-against.js'
import { optionsIn, type Reporter, type VerifyOptions } from './verify-options.js'
import { countOf, hasFailed, jsonOf, junitOf, markdownOf, summary, textOf, type VerifyRun } from './verify-report.js'
import { type OpenTarget, openTarget, ownTarget } from './verify-target.js'

const EXIT_BROKEN = 1

/**
 * Prints the findings. The exit code is 1 if a documented clause is broken or none could be checked. Rejects with a UsageError for
 * flags that cannot be used, and with a ProblemsError if the target cannot be reached.
 */
export async function verify(commandLine: CommandLine): Promise<void> {
  const options = optionsIn(commandLine)
  const { output } = options
  if (output !== undefined) requireWritable('--output', output)
  const other = options.against === undefined ? undefined : await openOther(commandLine, options, process.env)
  const open = await (other ? ownTarget(commandLine) : openTarget(commandLine, process.env))
  const signal = stopOnSignals()
  try {
    const run = await judged({ ...open, other }, options, commandLine, signal)
    const report = reportOf(run, options, commandLine)
    process.exitCode = signal.aborted ? EXIT_STOPPED : exitCodeOf(run)
    if (output === undefined) return void process.stdout.write(report)
    if (!commandLine.quiet) console.error(summary(run))
    await writeReport(output, report)
  } finally {
    await open.close()
  }
}

async function judged(
  { options: targetOptions, isOwn, other }: Omit<OpenTarget, 'close'> & { readonly other: Other | undefined },
  options: VerifyOptions,
  { quiet }: CommandLine,
  signal: AbortSignal,
): Promise<VerifyRun> {
  const { wanted, maxCalls, isStrict, output, reporter } = options
  const startedMs = performance.now()
  const target = createTarget({ ...targetOptions, maxCalls, signal })
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
    return { findings, against: other && (await against(target, other, { options, progress, signal })) }
  }
  const found = await judging().finally(progress.end)
  const why = target.unreachable()
  if (why !== undefined && !signal.aborted) {
    throw new ProblemsError([{ origin: target.url, sentence: `cannot be reached (${why}).` }])
  }
  const seconds = (performance.now() - startedMs) / 1000
  return { url: target.url, isOwn, ...found, calls: target.calls(), maxCalls, seconds, isStrict }
}

const reports: Readonly<Record<Exclude<Reporter, 'text'>, (run: VerifyRun) => string>> = {
  json: jsonOf,
  markdown: markdownOf,
  junit: junitOf,
}

function reportOf(run: VerifyRun, { reporter, output }: VerifyOptions, { quiet }: CommandLine): string {
  if (reporter !== 'text') return reports[reporter](run)
  // Files get no colours.
  const colors = output === undefined ? colorsFor(process.stdout) : noColors
  return textOf(run, { colors, isQuiet: quiet })
}

function exitCodeOf(run: VerifyRun): number {
  if (hasFailed(run)) return EXIT_BROKEN
  const { held, different } = countOf(run)
  if (held + different > 0) return 0
  console.error('Nothing could be checked.')
  return EXIT_BROKEN
}
