/** `standin verify`: checks a target against each rule of the platform's document, and reports which ones it breaks. */
import { judgeAll } from '../../contract/clause.js'
import { clauses } from '../../contract/clauses/index.js'
import { createTarget } from '../../contract/target.js'
import { command } from '../command.js'
import { createReporter } from '../report/reporter.js'
import { EXIT_STOPPED, stopOnSignals } from '../stop-signals.js'
import { compareWith, openComparisonTarget, requireReachable } from './against.js'
import { countOf, hasFailed, reportOf, type VerifyRun } from './report.js'
import { openTarget, ownTarget, type VerifyLine, verifyFlags, verifyOptions } from './target.js'

const EXIT_BROKEN = 1

export const commands = {
  verify: command({
    flags: verifyFlags,
    examples: [
      ['standin verify', 'check a fresh stand-in'],
      ['standin verify --only AUTH-*', 'check the rules about credentials'],
      ['standin verify --openapi builder.yaml --target live', 'check the live platform against this file'],
      ['standin verify --target live --reporter junit --output report.xml', 'check the live platform in CI'],
    ],
    run: verify,
  }),
}

/** Reports the findings. Sets the exit code to 1 if a documented clause is broken or none could be checked. */
async function verify(line: VerifyLine): Promise<undefined> {
  if (line.flags.openapi !== undefined) return (await import('./openapi.js')).verifyOpenApi(line, line.flags.openapi)
  const options = verifyOptions(line)
  const { wanted, maxCalls } = options
  const reporter = createReporter(line.flags)
  const comparisonTarget = line.flags.against === undefined ? undefined : await openComparisonTarget(line, options)
  const opened = await (comparisonTarget ? ownTarget(line) : openTarget(line))
  const signal = stopOnSignals()
  const startedMs = performance.now()
  const progress = reporter.progress(wanted.length * (comparisonTarget?.kind === 'live' ? 2 : 1))
  try {
    const target = createTarget({ ...opened.options, maxCalls, signal })
    const findings = await judgeAll({
      ...{ target, wanted, table: clauses },
      begun: ({ id }) => progress.at(id),
      ended: progress.step,
    })
    const compared =
      comparisonTarget && (await compareWith(target, comparisonTarget, { ...options, line, progress, signal }))
    requireReachable(target, signal)
    progress.end()
    const seconds = (performance.now() - startedMs) / 1000
    const facts = { isOwn: opened.isOwn, findings, maxCalls, seconds, isStrict: line.flags.strict }
    const run = { ...facts, url: target.url, calls: target.calls(), against: compared }
    process.exitCode = signal.aborted ? EXIT_STOPPED : exitCodeOf(run)
    await reporter.write(reportOf(run))
  } finally {
    progress.end()
    await opened.close()
  }
}

function exitCodeOf(run: VerifyRun): number {
  if (hasFailed(run)) return EXIT_BROKEN
  const { held, different } = countOf(run)
  if (held + different > 0) return 0
  console.error('Nothing could be checked.')
  return EXIT_BROKEN
}
