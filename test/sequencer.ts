/** The order of the test files, for vitest's configuration. */
import { createHash } from 'node:crypto'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { filesOf, leftOut } from './left-out.js'

/** They take longest, the first of them minutes. */
const long = [
  ...Object.keys(leftOut).flatMap(filesOf),
  'test/cli/exec.test.ts',
  'test/recordings/prompts.test.ts',
  'test/budget/budget.test.ts',
  'test/dashboard/',
  'test/state/',
  'test/cli/',
]

/** Runs the longest files first, so that none of them runs alone at the end; equals in random order, by the seed of the run. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { seed } = this.ctx.config.sequence
    const places = new Map(files.map(file => [file, placeOf(file, seed)]))
    return files.toSorted((a, b) => (places.get(a) ?? '').localeCompare(places.get(b) ?? ''))
  }
}

function placeOf({ moduleId }: TestSpecification, seed: number): string {
  const rank = [...long, ''].findIndex(part => moduleId.includes(part))
  return `${String(rank).padStart(2, '0')} ${createHash('sha1').update(`${seed} ${moduleId}`).digest('hex')}`
}
