/** The result of `standin exec --adversary` as a report. */
import type { ClientCall } from '../adversary/calls.js'
import { type ClientVerdict, explanations } from '../adversary/verdict.js'
import { type Colors, pluralize, printable } from './output.js'
import { type CheckOutcome, joinCounts, markedLine, type Report } from './report.js'

/** A verdict, with what is shown of the calls. */
interface ShownVerdict extends Omit<ClientVerdict, 'calls'> {
  readonly calls: readonly Pick<ClientCall, 'id' | 'method' | 'path' | 'status' | 'startMs'>[]
}

export interface AdversaryResult {
  readonly call: Pick<ClientCall, 'key' | 'title' | 'method' | 'path'>
  readonly fault: string
  readonly seconds: number
  readonly verdicts: readonly ShownVerdict[]
  /** False if the call did not come, or its answer was too short for the fault. */
  readonly wasHit: boolean
}

export interface AdversaryRun {
  readonly results: readonly AdversaryResult[]
  /** How many runs there would be in all. */
  readonly planned: number
  /** The faults that could not be tried, and why. */
  readonly left?: readonly { readonly fault: string; readonly why: string }[]
  readonly seconds: number
}

/** Whether it shows a mistake of the client. */
export const hasBugs = ({ results }: Pick<AdversaryRun, 'results'>): boolean =>
  results.some(({ verdicts }) => verdicts.some(({ isBug }) => isBug))

export const adversaryReport = (run: AdversaryRun): Report => ({
  summary: summaryOf(run),
  data: run.results.flatMap(result => result.verdicts.map(verdict => dataOf(result, verdict))),
  lines: (colors, isQuiet) => linesOf(run, colors, isQuiet),
})

function summaryOf({ results, planned, seconds }: AdversaryRun): string {
  const verdicts = results.flatMap(result => result.verdicts)
  const bugs = verdicts.filter(({ isBug }) => isBug).length
  const counts = joinCounts([
    [bugs, bugs === 1 ? 'bug' : 'bugs'],
    [verdicts.length - bugs, verdicts.length - bugs === 1 ? 'note' : 'notes'],
    [results.filter(({ wasHit }) => !wasHit).length, 'without effect'],
  ])
  const runs = `${pluralize(results.length, 'run')}${results.length < planned ? ` of ${planned}` : ''}`
  return `${runs} with a fault: ${counts || 'nothing to report'} (${seconds.toFixed(1)} s)`
}

function linesOf({ results, left = [] }: AdversaryRun, colors: Colors, isQuiet: boolean): readonly string[] {
  const shown = isQuiet ? results.filter(({ verdicts }) => verdicts.some(({ isBug }) => isBug)) : results
  const calls = [...new Map(shown.map(({ call }) => [call.key, call])).values()]
  const blocks = calls.flatMap(call => [
    '',
    colors.bold(printable(call.title)),
    ...shown.filter(({ call: { key } }) => key === call.key).flatMap(result => resultLines(result, colors)),
  ])
  const others = isQuiet || left.length === 0 ? [] : ['', ...left.map(one => leftLine(one, colors))]
  const codes = [...new Set(shown.flatMap(({ verdicts }) => verdicts.map(({ code }) => code)))]
  const width = Math.max(...codes.map(({ length }) => length))
  const pages = codes.map(code => `${code.padEnd(width)}  ${pageOf(code)}`)
  return [
    ...[...blocks, ...others, ...(pages.length > 0 ? ['', ...pages] : [])].slice(isQuiet ? 1 : 0),
    ...(isQuiet ? [] : ['']),
  ]
}

const pageOf = (code: ShownVerdict['code']) => `docs/adversary.md#${explanations[code]}`

const outcomeOf = ({ isBug }: ShownVerdict): CheckOutcome => (isBug ? 'broken' : 'different')

function resultLines({ fault, verdicts, wasHit }: AdversaryResult, colors: Colors): readonly string[] {
  const name = fault.padEnd(NAME_WIDTH)
  if (!wasHit)
    return [
      `  ${markedLine('skipped', [name, 'without effect: the call did not come in this run.', undefined], colors)}`,
    ]
  if (verdicts.length === 0) return [`  ${markedLine('held', [name, 'handled', undefined], colors)}`]
  return verdicts.map(verdict => {
    const { code, sentence } = verdict
    return `  ${markedLine(outcomeOf(verdict), [name, `${code}: ${printable(sentence)}`, traceOf(verdict)], colors)}`
  })
}

const leftLine = ({ fault, why }: NonNullable<AdversaryRun['left']>[number], colors: Colors): string =>
  `  ${markedLine('skipped', [fault.padEnd(NAME_WIDTH), `not tried: ${why}.`, undefined], colors)}`

const NAME_WIDTH = 20
const MOST_TRACED = 6

/** `(journal: 12 503, 13 200)`. */
function traceOf({ calls }: ShownVerdict): string {
  const shown = calls.slice(0, MOST_TRACED).map(({ id, status }) => `${id} ${status ?? 'no answer'}`)
  return `(journal: ${shown.join(', ')}${calls.length > MOST_TRACED ? ', …' : ''})`
}

function dataOf({ call, fault, seconds }: AdversaryResult, { code, isBug, sentence, calls }: ShownVerdict): object {
  const { method, path, title } = call
  const requests = calls.map(({ id, method, path, status, startMs }) => ({
    id,
    at: new Date(startMs).toISOString(),
    method,
    path,
    status,
  }))
  return { code, isBug, call: { method, path, title }, fault, sentence, requests, seconds, docs: pageOf(code) }
}
