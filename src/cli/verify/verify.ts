/** `standin verify`: checks a target against each rule of the platform's document, and reports which ones it breaks. */
import { ProblemsError, UsageError } from '../../check/problem.js'
import { type Clause, judgeAll, wantedOf } from '../../contract/clause.js'
import { clauses } from '../../contract/clauses.js'
import { createTarget, type Target } from '../../contract/target.js'
import { command } from '../command.js'
import { createReporter } from '../report.js'
import { EXIT_STOPPED, stopOnSignals } from '../stop-signals.js'
import { countOf, reportOf, type VerifyRun } from './report.js'
import { openTarget, type VerifyLine, verifyFlags } from './target.js'

const EXIT_BROKEN = 1

export const commands = {
  verify: command({
    flags: verifyFlags,
    examples: [
      ['standin verify', 'check a fresh stand-in'],
      ['standin verify --only AUTH-*', 'check the rules about credentials'],
      ['standin verify --target live --reporter junit --output report.xml', 'check the live platform in CI'],
    ],
    run: verify,
  }),
}

/** Reports the findings. Sets the exit code to 1 if a documented clause is broken or none could be checked. */
async function verify(line: VerifyLine): Promise<undefined> {
  const { only, strict: isStrict, 'max-calls': maxCalls } = line.flags
  const wanted = wantedClauses(only)
  const reporter = createReporter(line.flags)
  const opened = await openTarget(line)
  const signal = stopOnSignals()
  const startedMs = performance.now()
  const progress = reporter.progress(wanted.length)
  try {
    const target = createTarget({ ...opened.options, maxCalls, signal })
    const findings = await judgeAll({
      target,
      wanted,
      table: clauses,
      begun: ({ id }) => progress.at(id),
      ended: progress.step,
    })
    requireReachable(target, signal)
    progress.end()
    const seconds = (performance.now() - startedMs) / 1000
    const facts = { isOwn: opened.isOwn, findings, maxCalls, seconds, isStrict }
    const run = { ...facts, url: target.url, calls: target.calls() }
    process.exitCode = signal.aborted ? EXIT_STOPPED : exitCodeOf(run)
    await reporter.write(reportOf(run))
  } finally {
    progress.end()
    await opened.close()
  }
}

function wantedClauses(only: string | undefined): readonly Clause[] {
  const wanted = wantedOf(clauses, only)
  if (wanted.length > 0) return wanted
  throw new UsageError(
    `No clause is called "${only}". Use ids such as AUTH-6.1 or HEALTH-*, a section such as Errors, documented or decided.`,
  )
}

/** Throws a ProblemsError if the target did not answer at all. */
function requireReachable(target: Target, { aborted }: AbortSignal): void {
  const why = target.unreachable()
  if (why === undefined || aborted) return
  throw new ProblemsError([{ origin: target.url, sentence: `cannot be reached (${why}).` }])
}

function exitCodeOf(run: VerifyRun): number {
  const { broken, held, different } = countOf(run)
  if (broken > 0) return EXIT_BROKEN
  if (held + different > 0) return 0
  console.error('Nothing could be checked.')
  return EXIT_BROKEN
}
