/** `standin receipt FILE…`: joins the receipts of the parts of one run, prints the result as `exec` does, and judges it. */
import { UsageError } from '../check/problem.js'
import { adversaryReport, hasBugs } from './adversary-report.js'
import { logTidied } from './after-run.js'
import { type CommandLine, command, fileName, outputFlags, runFlags } from './command.js'
import { createEventLog, createProblemLog, type EventLog } from './event-log.js'
import { concludeRun } from './exec.js'
import { commonTests, eitherOf, joinResults, type RunResult, readReceipts } from './receipt-file.js'
import { createReporter } from './report.js'
import { checksOf } from './run-result.js'
import { appendSummary } from './summary.js'

/** The exit code if the commands succeeded, but a check failed. */
const EXIT_FAILED = 1

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
  const isWhole = flags.whole || parts.every(({ result }) => result.isWhole)
  const joined = joinResults(
    parts.map(({ result }) => result),
    isWhole,
  )
  const result: RunResult = { ...joined, checks: eitherOf(joined.checks, checksOf(flags)) }
  const log = await createEventLog({ ...flags, verbose: false }, process.stdout)
  for (const sentence of commonTests(parts))
    log.problem({ event: 'common-tests', sentence }, ({ yellow }) => yellow(sentence))
  logFound(result, log, flags)
  const hasFailed = concludeRun(result, log, {
    ...flags,
    acceptCommand: 'standin recordings accept, after a run with --on-miss nearest here',
  })
  logTidied(log, {
    ...result,
    notAsked: result.receipt?.notAsked ?? [],
    goneTests: [],
    objection: undefined,
    advice: '',
  })
  if (result.findings) await createReporter(flags).write(adversaryReport(result.findings))
  const isBroken = hasFailed || (result.findings !== null && hasBugs(result.findings))
  const exitCode = result.exitCode === 0 && isBroken ? EXIT_FAILED : result.exitCode
  if (flags.summary !== undefined) appendSummary(flags.summary, result, log, exitCode)
  return exitCode
}

/** What `exec` reports while it runs. */
function logFound(
  { misses, violations, onMiss }: RunResult,
  log: EventLog,
  flags: Parameters<typeof createProblemLog>[2],
) {
  const problems = createProblemLog(log, onMiss, flags)
  for (const one of violations.toReversed()) problems.violating(one)
  for (const miss of misses) problems.miss(miss)
}
