/** The shapes of a target's answers: stored in a file that is committed, and compared with those of another target. */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Finding } from '../check/finding.js'
import { makeFolder, ProblemsError, StartError, unreadable } from '../check/problem.js'
import { jsonOf } from '../core/json.js'
import { runAtOnce } from '../core/work.js'
import type { ReceivedAnswer } from './call.js'
import { compare } from './compare.js'
import { judge } from './judge.js'
import { type AnswerShape, answerShapeIn, shapeOfAnswer } from './shape.js'
import type { Target } from './target.js'

/** An answer, as compared with that of another target. */
interface ComparedAnswer {
  readonly shape: AnswerShape
  /** How it violates the schema. */
  readonly misfit: string | undefined
}

/** By the name of the call. */
type Answers = ReadonlyMap<string, ComparedAnswer>

/** The answers so far. Leaves out temporary ones: a 429, and failures of the target. */
export async function answersOf(target: Target): Promise<Answers> {
  const found = new Map<string, ComparedAnswer>()
  for (const [name, result] of await target.results()) {
    if (result.kind === 'unanswered' || result.status === 429 || result.status >= 500) continue
    const { status, headers, text } = result
    const shape = shapeOfAnswer({ status, headers: [...headers], body: Buffer.from(text) })
    const misfit = mismatchOf(name, result)
    found.set(name, { shape, misfit: misfit && target.clean(misfit) })
  }
  return found
}

/** Returns how the answer violates the contract. The auth backend's answers have no schema. */
function mismatchOf(name: string, { status, headers, text }: ReceivedAnswer): string | undefined {
  const [, method = '', endpoint = ''] = /^(\S+) ([^\s?]+)/.exec(name) ?? []
  if (endpoint.startsWith('/auth/v1/')) return undefined
  const contentType = headers.get('content-type') ?? ''
  const [finding] = runAtOnce(
    judge({
      ...{ method, status, contentType, path: endpoint, endpoint: `${method} ${endpoint}`, isWhole: true },
      body: Buffer.from(text),
      requested: { stream: /^text\/event-stream/i.test(contentType), usage: false },
    }),
  )
  return finding?.sentence
}

/** A difference between the answers of two targets. */
export interface AnswerDifference {
  /** The calls that show exactly this difference. */
  readonly calls: readonly string[]
  readonly drifts: readonly Finding[]
  /** Which of the two answers fits the schema. */
  readonly schema: string
}

export interface Comparison {
  /** The number of calls that both have answered. */
  readonly compared: number
  readonly differences: readonly AnswerDifference[]
}

/** Calls that only one of them has answered are not compared. */
export function compareAnswers(standin: Answers, live: Answers): Comparison {
  const pairs = [...standin].flatMap(([call, ours]) => {
    const theirs = live.get(call)
    return theirs ? [{ call, ours, theirs }] : []
  })
  const found = new Map<string, AnswerDifference>()
  for (const { call, ours, theirs } of pairs) {
    const drifts = compare(ours.shape, theirs.shape, 'stand-in')
    if (drifts.length === 0) continue
    const schema = schemaVerdict(ours.misfit, theirs.misfit)
    // The same difference may show up in a dozen calls.
    const name = JSON.stringify([drifts, schema])
    found.set(name, { calls: [...(found.get(name)?.calls ?? []), call], drifts, schema })
  }
  return { compared: pairs.length, differences: [...found.values()] }
}

function schemaVerdict(ours: string | undefined, theirs: string | undefined): string {
  if (ours === undefined && theirs === undefined) return 'both fit it'
  if (ours === undefined) return `the live answer does not fit it: ${theirs}`
  return theirs === undefined ? `the stand-in's answer does not fit it: ${ours}` : `neither fits it: ${theirs}`
}

/** The live platform's answers at the last comparison. */
export interface Baseline {
  readonly at: Date
  /** Its URL. */
  readonly target: string
  readonly answers: Answers
}

/** Rejects with a StartError if the file cannot be written. */
export async function writeBaseline(file: string, { at, target, answers }: Baseline): Promise<void> {
  const sorted = [...answers].sort(([a], [b]) => (a < b ? -1 : 1))
  const entries = sorted.map(([call, { shape, misfit }]) => ({ call, misfit, ...shape }))
  try {
    makeFolder(path.dirname(file))
    await writeFile(file, `${JSON.stringify({ at: at.toISOString(), target, answers: entries }, null, 2)}\n`)
  } catch (error) {
    throw new StartError(`${file} cannot be written (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/**
 * Returns `undefined` if there is no such file. Rejects with a ProblemsError for a file that `writeBaseline` did not
 * write.
 */
export async function readBaseline(file: string): Promise<Baseline | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new ProblemsError([unreadable(file, error)])
  }
  const baseline = baselineIn(text)
  if (baseline) return baseline
  const sentence = 'is not a baseline. Create a new one: standin verify --against live --update-baseline.'
  throw new ProblemsError([{ origin: file, sentence }])
}

function baselineIn(text: string): Baseline | undefined {
  const { at, target, answers } = (jsonOf(text) ?? {}) as Readonly<Record<string, unknown>>
  const date = new Date(typeof at === 'string' ? at : '')
  if (Number.isNaN(date.getTime()) || typeof target !== 'string' || !Array.isArray(answers)) return undefined
  const found = new Map<string, ComparedAnswer>()
  for (const entry of answers) {
    const shape = answerShapeIn(entry)
    if (!shape || typeof entry.call !== 'string') return undefined
    found.set(entry.call, { shape, misfit: typeof entry.misfit === 'string' ? entry.misfit : undefined })
  }
  return { at: date, target, answers: found }
}
