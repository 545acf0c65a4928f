/** What a run did: collected while it goes on, printed at its end, and written to a file with --receipt. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Platform } from '../platform.js'
import type { Miss, Tidied } from '../recordings/index.js'
import type { AdversaryRun } from './adversary-report.js'
import type { RunFlags } from './command.js'
import type { Checks, PrintedEnd, RunResult } from './receipt-file.js'

export const endOf = (platform: Platform, isWhole: boolean): PrintedEnd => ({
  receipt: platform.receipt(isWhole) ?? null,
  violationCounts: platform.violations.counts(),
  overBudget: platform.overBudget(true),
  onMiss: platform.loaded.config.recordings.onMiss,
})

export const checksOf = (flags: Pick<RunFlags, 'strict' | 'strict-unused' | 'fail-on-violation'>): Checks => ({
  strict: flags.strict || flags['strict-unused'],
  strictUnused: flags['strict-unused'],
  failOnViolation: flags['fail-on-violation'],
})

/** Collects what only is known while a run goes on. `keepsMisses` if they are for a file, and not only printed. */
export function watchRun(platform: Platform, { keepsMisses }: { readonly keepsMisses: boolean }) {
  const requests: Record<string, { total: number; failed: number }> = {}
  const misses: Miss[] = []
  function count(name: string, status: number | null | undefined, isComplete: boolean | undefined): void {
    const { total, failed } = requests[name] ?? { total: 0, failed: 0 }
    const hasFailed = (status ?? 0) >= 400 || !isComplete
    requests[name] = { total: total + 1, failed: failed + Number(hasFailed) }
  }
  platform.journal.follow(({ method, path, endpoint, outcome }) =>
    count(`${method} ${endpoint?.path ?? path}`, outcome?.status, outcome?.complete),
  )
  platform.sharedRun?.follow(({ request: { method, path }, endpoint, status, complete }) =>
    count(endpoint ?? `${method} ${path}`, status, complete),
  )
  if (keepsMisses) platform.onMiss(miss => void misses.push(miss))
  return { requests, misses }
}

/** Which tests did otherwise than the command line asked. */
export function testsOf({ sharedRun }: Platform): Pick<RunResult, 'notReported' | 'ownOptions'> {
  const parts = sharedRun?.parts() ?? []
  const own = parts.flatMap(({ file, own }) => own.map(({ name, value }) => [`${name}${value && `: ${value}`}`, file]))
  const files = Map.groupBy(own, ([option = '']) => option)
  return {
    notReported: [...new Set(parts.filter(({ hasReported }) => !hasReported).map(({ file }) => file))],
    ownOptions: Object.fromEntries(
      [...files].map(([option, by]) => [option, [...new Set(by.map(([, file = '']) => file))]]),
    ),
  }
}

/** The findings of --adversary, without the bodies of calls. */
export const findingsOf = ({ results, planned, seconds }: AdversaryRun): NonNullable<RunResult['findings']> => ({
  planned,
  seconds,
  results: results.map(({ call, verdicts, ...result }) => ({
    ...result,
    call: { key: call.key, title: call.title, method: call.method, path: call.path },
    verdicts: verdicts.map(({ calls, ...verdict }) => ({
      ...verdict,
      calls: calls.map(({ id, method, path, status, startMs }) => ({ id, method, path, status, startMs })),
    })),
  })),
})

/** After a recording run, what it has removed is neither unused nor not asked for. */
export function withoutRemoved(result: RunResult, { removed, notAsked }: Pick<Tidied, 'removed' | 'notAsked'>) {
  const { receipt } = result
  const gone = new Set(removed)
  const left = receipt && { ...receipt, notAsked, unused: receipt.unused.filter(file => !gone.has(file)) }
  return { ...result, removed, receipt: left }
}

/** The folder of recordings as it is called on any machine: relative to the repository, or else to the package. */
export function folderName(dir: string, from = process.cwd()): string {
  const root = rootAbove(dir, '.git') ?? rootAbove(dir, 'package.json') ?? from
  return path.relative(root, dir).replaceAll('\\', '/')
}

function rootAbove(dir: string, marker: string): string | undefined {
  for (let at = dir; ; at = path.dirname(at)) {
    if (existsSync(path.join(at, marker))) return at
    if (path.dirname(at) === at) return undefined
  }
}
