/** The order of the test files, for vitest's configuration. */
import { createHash } from 'node:crypto'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { filesOf, leftOut } from './left-out.js'

/** They take longest. */
const long = Object.keys(leftOut).flatMap(filesOf)

/** Runs the longest files first, so that none of them runs alone at the end; the others in random order, by the seed of the run. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { seed } = this.ctx.config.sequence
    const places = new Map(files.map(file => [file, placeOf(file, seed)]))
    return files.toSorted((a, b) => (places.get(a) ?? '').localeCompare(places.get(b) ?? ''))
  }
}

const placeOf = ({ moduleId }: TestSpecification, seed: number) =>
  `${long.some(part => moduleId.includes(part)) ? 0 : 1} ${createHash('sha1').update(`${seed} ${moduleId}`).digest('hex')}`
