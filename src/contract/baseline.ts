/** The last known shapes of the live platform's answers, in a file that is committed. */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { makeFolder } from '../core/make-folder.js'
import { ProblemsError, unreadable } from '../core/problem.js'
import { StartError } from '../core/start-error.js'
import { shapeIn, writtenShape } from '../recordings/index.js'
import type { ComparedAnswer } from './answer-of.js'

export interface Baseline {
  /** When the live platform said so. */
  readonly at: Date
  /** Its address. */
  readonly target: string
  readonly answers: ReadonlyMap<string, ComparedAnswer>
}

/** Rejects with a StartError when it cannot be written. What answers say is not in it, only their shapes. */
export async function writeBaseline(file: string, { at, target, answers }: Baseline): Promise<void> {
  const told = [...answers]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([call, { shape, misfit }]) => ({
      call,
      ...(misfit !== undefined && { misfit }),
      ...writtenShape(shape),
    }))
  try {
    makeFolder(path.dirname(file))
    await writeFile(file, `${JSON.stringify({ at: at.toISOString(), target, answers: told }, null, 2)}\n`)
  } catch (error) {
    throw new StartError(`${file} cannot be written (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** Nothing where there is no such file. Rejects with a ProblemsError for one that is not what `writeBaseline` has left. */
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
  const sentence = 'is no baseline. Make it anew: standin verify --against live --update-baseline.'
  throw new ProblemsError([{ origin: file, sentence }])
}

interface Told {
  readonly at?: unknown
  readonly target?: unknown
  readonly answers?: unknown
}

function baselineIn(text: string): Baseline | undefined {
  const { at, target, answers } = parsed(text)
  const date = new Date(typeof at === 'string' ? at : '')
  if (Number.isNaN(date.getTime()) || typeof target !== 'string' || !Array.isArray(answers)) return undefined
  const found = new Map<string, ComparedAnswer>()
  for (const one of answers) {
    const shape = shapeIn(one)
    if (!shape || typeof one.call !== 'string') return undefined
    found.set(one.call, { shape, misfit: typeof one.misfit === 'string' ? one.misfit : undefined })
  }
  return { at: date, target, answers: found }
}

function parsed(text: string): Told {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}
