/** `standin verify`: checks a target against each rule of the platform's document, and reports which ones it breaks. */
import { judgeAll } from '../../contract/clause.js'
import { clauses } from '../../contract/clauses/index.js'
import { createTarget } from '../../contract/target.js'
import { command } from '../command.js'
import { createProgress, noProgress } from '../progress.js'
import { createReporter } from '../report/reporter.js'
import { EXIT_STOPPED, stopOnSignals } from '../stop-signals.js'
import { against, type ComparisonTarget, openOther, requireReached } from './against.js'
import { countOf, hasFailed, reportOf, type VerifyRun } from './report.js'
import { openTarget, optionsIn, ownTarget, type VerifyLine, type VerifyOptions, verifyFlags } from './target.js'

const EXIT_BROKEN = 1

export const commands = {
  verify: command({
    flags: verifyFlags,
    examples: [
      ['standin verify', 'check a fresh stand-in'],
      ['standin verify --only AUTH-*', 'check the rules about credentials'],
      ['standin verify --openapi builder.yaml --target live', 'check it against a document'],
      ['standin verify --target live --reporter junit --output report.xml', 'check the live platform in CI'],
    ],
    run: verify,
  }),
}

/**
 * Reports the findings. The exit code is 1 if a documented clause is broken or none could be checked. Rejects with a
 * UsageError for invalid flags, and with a ProblemsError if the target cannot be reached.
 */
async function verify(line: VerifyLine): Promise<undefined> {
  if (line.flags.openapi !== undefined) return (await import('./openapi.js')).verifyOpenApi(line, line.flags.openapi)
  const options = optionsIn(line)
  const reporter = createReporter(line.flags)
  const other = line.flags.against === undefined ? undefined : await openOther(line, options, process.env)
  const open = await (other ? ownTarget(line) : openTarget(line, process.env))
  const signal = stopOnSignals()
  try {
    const isSilent =
      line.flags.quiet || !(reporter.isInWords || line.flags.output !== undefined || process.stderr.isTTY)
    const run = await judged({ ...open, ...options, line, other, signal, isSilent })
    process.exitCode = signal.aborted ? EXIT_STOPPED : exitCodeOf(run)
    await reporter.write(reportOf(run))
  } finally {
    await open.close()
  }
}

interface Judging extends VerifyOptions, Omit<Awaited<ReturnType<typeof openTarget>>, 'close'> {
  readonly line: VerifyLine
  readonly other: ComparisonTarget | undefined
  readonly signal: AbortSignal
  readonly isSilent: boolean
}

async function judged({ options, isOwn, other, line, signal, isSilent, ...judging }: Judging): Promise<VerifyRun> {
  const { wanted, maxCalls } = judging
  const startedMs = performance.now()
  const target = createTarget({ ...options, maxCalls, signal })
  const total = wanted.length * (other?.kind === 'live' ? 2 : 1)
  const progress = isSilent ? noProgress : createProgress(total, process.stderr)
  try {
    const findings = await judgeAll({
      ...{ target, wanted, table: clauses },
      begun: ({ id }) => progress.at(id),
      ended: progress.step,
    })
    const compared = other && (await against(target, other, { ...judging, line, progress, signal }))
    requireReached(target, signal)
    const seconds = (performance.now() - startedMs) / 1000
    const facts = { isOwn, findings, maxCalls, seconds, isStrict: line.flags.strict }
    return { ...facts, url: target.url, calls: target.calls(), against: compared }
  } finally {
    progress.end()
  }
}

function exitCodeOf(run: VerifyRun): number {
  if (hasFailed(run)) return EXIT_BROKEN
  const { held, different } = countOf(run)
  if (held + different > 0) return 0
  console.error('Nothing could be checked.')
  return EXIT_BROKEN
}
