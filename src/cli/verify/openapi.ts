/** `standin verify --openapi`: checks the target against an OpenAPI document instead of the platform's document. */
import path from 'node:path'
import { type Finding, isAtLeast } from '../../check/finding.js'
import { UsageError } from '../../check/problem.js'
import type { Call, CallResult } from '../../contract/call.js'
import { createTarget, type Target } from '../../contract/target.js'
import { type DocumentedOperation, operationsOf, readDocuments } from '../../openapi/index.js'
import { pluralize } from '../format.js'
import type { Progress } from '../progress.js'
import { joinOutcomes, type Report, type ReportItem } from '../report/report.js'
import { createReporter } from '../report/reporter.js'
import { EXIT_STOPPED, stopOnSignals } from '../stop-signals.js'
import { requireReachable } from './against.js'
import { openTarget, type VerifyLine } from './target.js'

const EXIT_BROKEN = 1

interface CheckedOperation {
  readonly operation: DocumentedOperation
  readonly outcome: 'held' | 'broken' | 'skipped' | 'error'
  readonly findings: readonly Finding[]
  readonly why?: string
}

/** Reports the findings. Sets the exit code to 1 if an answer deviates, is missing, or nothing could be checked. */
export async function verifyOpenApi(line: VerifyLine, file: string): Promise<undefined> {
  const { flags } = line
  const reporter = createReporter(flags)
  for (const name of ['only', 'against', 'strict'] as const)
    if (flags[name]) throw new UsageError(`--${name} applies to the platform's document: leave it out with --openapi.`)
  const operations = (await readDocuments([inputFor(file)], console.error)).flatMap(one => operationsOf(one))
  // A stand-in started for this check serves the document itself.
  const ownOption = { path: ['openapi'], value: path.resolve(file), origin: '--openapi' }
  const opened = await openTarget({ ...line, overrides: [...line.overrides, ownOption] })
  const signal = stopOnSignals()
  const startedMs = performance.now()
  try {
    const target = createTarget({ ...opened.options, maxCalls: flags['max-calls'], signal })
    const checked = await checkAll(operations, target, reporter.progress(operations.length))
    requireReachable(target, signal)
    const seconds = (performance.now() - startedMs) / 1000
    const count = countIn(checked)
    const isFailure = count.broken + count.error > 0 || count.held === 0
    process.exitCode = signal.aborted ? EXIT_STOPPED : isFailure ? EXIT_BROKEN : 0
    if (count.held + count.broken + count.error === 0) console.error('Nothing could be checked.')
    await reporter.write(
      reportOf({ file, checked, count, seconds, url: opened.isOwn ? 'a fresh stand-in' : target.url, target }),
    )
  } finally {
    await opened.close()
  }
}

function inputFor(name: string) {
  const file = path.resolve(name)
  const dir = process.cwd()
  return { name, file, dir, folders: [path.dirname(file), dir], validate: false }
}

async function checkAll(operations: readonly DocumentedOperation[], target: Target, progress: Progress) {
  const conformance = await import('../../openapi/conformance.js')
  const checked: CheckedOperation[] = []
  for (const operation of operations) {
    progress.at(nameOf(operation))
    checked.push(await checkOne(operation, target, conformance))
    progress.step()
  }
  progress.end()
  return checked
}

async function checkOne(
  operation: DocumentedOperation,
  target: Target,
  { findingsIn, safeRequestFor }: Conformance,
): Promise<CheckedOperation> {
  const unchecked = (outcome: 'skipped' | 'error', why: string) => ({ operation, outcome, findings: [], why })
  const request = safeRequestFor(operation)
  if ('why' in request) return unchecked('skipped', request.why)
  const call = callFor(request, target)
  if (typeof call === 'string') return unchecked('skipped', call)
  const result: CallResult | Error = await target.ask(call).catch((error: Error) => error)
  if (result instanceof Error) return unchecked('skipped', result.message)
  if (result.kind === 'unanswered') return unchecked('error', `no answer: ${result.why}`)
  const findings = findingsIn(operation, result)
  return { operation, outcome: findings.some(isFatal) ? 'broken' : 'held', findings }
}

const isFatal = ({ severity }: Finding) => isAtLeast('critical', severity)

type Conformance = typeof import('../../openapi/conformance.js')
type SafeRequest = Exclude<ReturnType<Conformance['safeRequestFor']>, { readonly why: string }>

/** The call with a credential that the operation accepts, or why there is none. */
function callFor({ path, headers, access }: SafeRequest, { credentials }: Target): Call | string {
  const call = { to: 'platform', method: 'GET', path } as const
  if (access === 'anyone') return { ...call, headers }
  const usesAnonKey = !access.includes('apiKey') && access.includes('anon')
  const key = usesAnonKey ? credentials.anonKey : credentials.apiKey
  if (key === undefined) return `it needs --${usesAnonKey ? 'anon-key' : 'api-key'}`
  return { ...call, headers: { ...headers, authorization: `Bearer ${key}` } }
}

const nameOf = ({ endpoint: { method, path } }: DocumentedOperation) => `${method} ${path}`

function countIn(checked: readonly CheckedOperation[]) {
  const count = (wanted: CheckedOperation['outcome']) => checked.filter(({ outcome }) => outcome === wanted).length
  return {
    operations: checked.length,
    held: count('held'),
    broken: count('broken'),
    error: count('error'),
    skipped: count('skipped'),
  }
}

interface OpenApiRun {
  readonly file: string
  readonly url: string
  readonly checked: readonly CheckedOperation[]
  readonly count: ReturnType<typeof countIn>
  readonly seconds: number
  readonly target: Target
}

function reportOf({ file, url, checked: results, count, seconds, target }: OpenApiRun): Report {
  const { held, broken, error, skipped } = count
  const counts = joinOutcomes(held, [
    [broken, broken === 1 ? 'deviates' : 'deviate'],
    [error, 'not answered'],
    [skipped, 'skipped'],
  ])
  const clean = (finding: Finding) => ({ ...finding, sentence: target.clean(finding.sentence) })
  const checked = results.map(result => ({ ...result, findings: result.findings.map(clean) }))
  const data = checked.map(({ operation, why, findings, outcome }) => {
    return { operation: nameOf(operation), outcome, ...(why !== undefined && { why }), findings }
  })
  return {
    name: 'verify',
    title: `${file}, checked at ${url}`,
    groups: [
      {
        title: 'Operations',
        items: checked.map(result => itemOf(result, file)),
        columns: ['operation', 'outcome', 'finding'],
      },
    ],
    summary: `${pluralize(count.operations, 'operation')}: ${counts} (${pluralize(target.calls(), 'call')}, ${seconds.toFixed(1)} s)`,
    seconds,
    data: { document: file, target: url, calls: target.calls(), count, operations: data },
  }
}

function itemOf({ operation, outcome, findings, why }: CheckedOperation, file: string): ReportItem {
  const name = nameOf(operation)
  const sentences = findings.map(({ path, sentence }) => (path === '' ? sentence : `${path}: ${sentence}`))
  const reason = why === undefined ? undefined : `${outcome === 'skipped' ? 'skipped: ' : ''}${why}`
  return {
    ...{ outcome, names: [name], classname: file, findings, failOn: 'critical', what: '', note: reason },
    message: why ?? sentences[0],
    type: 'openapi',
    shown: outcome === 'broken' || outcome === 'error' ? 'always' : 'usually',
    rows: [[name, outcome === 'held' ? 'holds' : outcome, reason ?? sentences.join('<br>')]],
  }
}
