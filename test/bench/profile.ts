/** The functions of Standin that take the most time in a row. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Command, type Server, servers, withServer } from './contenders.js'
import { ask, type Load } from './loads.js'

const SECONDS = 4

interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** The load of a row and its server, which may be in front of another. */
export interface ProfiledRow {
  readonly load: Load
  readonly command: (upstream: Server) => Command
}

/** Profiles one row after another, each in its own process, and prints the ten heaviest functions. */
export const profile = (rows: Readonly<Record<string, ProfiledRow>>): Promise<void> =>
  withServer(servers.bare, async upstream => {
    for (const [row, { load, command }] of Object.entries(rows)) {
      const folder = mkdtempSync(path.join(tmpdir(), 'standin-profile-'))
      const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`]
      await withServer(command(upstream), server => ask(server, load, SECONDS), flags)
      const file = readdirSync(folder)[0] ?? ''
      console.log(`\n${row}: the functions with the most self time, in % of busy time`)
      for (const line of heaviest(JSON.parse(readFileSync(path.join(folder, file), 'utf8')))) console.log(line)
      rmSync(folder, { recursive: true })
    }
  })

function heaviest({ nodes, samples, timeDeltas }: Profile): readonly string[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const times = new Map<string, number>()
  let total = 0
  for (const [i, id] of samples.entries()) {
    // The first half contains the start and code that is not compiled yet.
    if (i < samples.length / 2) continue
    const { functionName = '', url = '', lineNumber = 0 } = frames.get(id) ?? {}
    if (functionName === '(idle)') continue
    const name = `${functionName || '(anonymous)'} ${url === '' ? '' : `${path.basename(url)}:${lineNumber + 1}`}`
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[i] ?? 0))
    total += timeDeltas[i] ?? 0
  }
  const first = [...times].toSorted(([, a], [, b]) => b - a).slice(0, 10)
  return first.map(([name, time]) => `${((100 * time) / total).toFixed(1).padStart(6)} ${name}`)
}
