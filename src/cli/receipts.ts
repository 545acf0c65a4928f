/** `standin receipt FILE…`: joins the receipts of the parts of one run, prints the result as `exec` does, and judges it. */
import { UsageError } from '../check/problem.js'
import { adversaryReport, hasBugs } from './adversary-report.js'
import { logTidied } from './after-run.js'
import { type CommandLine, command, fileName, outputFlags, runFlags } from './command.js'
import { createEventLog, createProblemLog, type EventLog, EXIT_FAILED, logWarning } from './event-log.js'
import { concludeRun } from './exec.js'
import { commonTests, eitherOf, joinResults, type RunResult, readReceipts } from './receipt-file.js'
import { createReporter } from './report.js'
import { checksOf } from './run-result.js'
import { appendSummary } from './summary.js'

const receiptFlags = {
  strict: runFlags.strict,
  'strict-unused': runFlags['strict-unused'],
  whole: runFlags.whole,
  'fail-on-violation': runFlags['fail-on-violation'],
  summary: fileName('Append a summary of the run to FILE, as Markdown for the page of a CI job'),
  ...outputFlags,
}

export const receiptCommands = {
  receipt: command({
    flags: receiptFlags,
    examples: [
      ['standin exec --strict-unused --receipt receipt-1.json -- npm test -- --shard=1/4', 'run a shard'],
      ['standin receipt --whole receipt-*.json', 'judge all as one run'],
    ],
    run: joinFiles,
  }),
}

/** Returns the exit code: that of a command that failed, or else of the checks that a part or this command line asked for. */
async function joinFiles({ args, flags }: CommandLine<typeof receiptFlags>): Promise<number> {
  if (args.length === 0) throw new UsageError('standin receipt needs files: standin receipt 1.json 2.json.')
  const parts = readReceipts(args)
  const results = parts.map(({ result }) => result)
  const isWhole = flags.whole || results.every(one => one.isWhole)
  const joined = joinResults(results, isWhole)
  const result: RunResult = { ...joined, checks: eitherOf(joined.checks, checksOf(flags)) }
  const log = await createEventLog({ ...flags, verbose: false }, process.stdout)
  for (const sentence of commonTests(parts)) logWarning(log, { event: 'common-tests', sentence }, sentence)
  logFound(result, log, flags)
  const acceptCommand = 'standin recordings accept, after a run with --on-miss nearest here'
  const hasFailed = concludeRun(result, log, { ...flags, acceptCommand })
  const notAsked = result.receipt?.notAsked ?? []
  logTidied(log, { ...result, notAsked, goneTests: [], objection: undefined, advice: '' })
  if (result.findings) await createReporter(flags).write(adversaryReport(result.findings))
  const isBroken = hasFailed || (result.findings !== null && hasBugs(result.findings))
  const exitCode = result.exitCode === 0 && isBroken ? EXIT_FAILED : result.exitCode
  if (flags.summary !== undefined) appendSummary(flags.summary, result, log, exitCode)
  return exitCode
}

/** What `exec` reports while it runs. */
function logFound({ misses, violations, onMiss }: RunResult, log: EventLog, flags: { readonly json: boolean }) {
  const problems = createProblemLog(log, onMiss, flags)
  for (const one of violations.toReversed()) problems.violating(one)
  for (const miss of misses) problems.miss(miss)
}
