/** What the tests of a run take from the platform of `standin exec`, and where their reports go. */

import { valueAt } from '../check/check.js'
import { stringifyExact } from '../core/json.js'
import type { RunReport } from '../run/operations.js'
import type { SharedRun } from '../run/shared-run.js'
import type { Assembly } from './assembly.js'
import type { LoadedConfig, Override } from './config/load.js'
import { allOptions, variableOf } from './config/options.js'
import type { Runtime } from './runtime.js'

interface Host {
  readonly runtime: Runtime
  readonly current: () => Pick<Assembly, 'loaded'>
  readonly url: () => string
}

/** Each part of the run has an address and a state of its own. */
const ofEach = new Set(['host', 'port', 'state', 'controlToken'])

export function runHostOf({ runtime, current, url }: Host): ConstructorParameters<typeof SharedRun>[0] {
  const { recordings, violations, prompts } = runtime
  return {
    url,
    handOver() {
      const { loaded } = current()
      const options = optionsIn(loaded)
      const overrides = options.filter(({ path, origin }) => origin === variableOf(path) || origin.startsWith('--'))
      return {
        folder: loaded.dir,
        file: loaded.file ?? '',
        options: stringifyExact(options),
        overrides: stringifyExact(overrides),
        overridden: overrides.map(({ path }) => path.join('.')),
      }
    },
    async take({ receipt, folder, misses, violations: found, overBudget }: RunReport) {
      if (receipt) await recordings.join(receipt, folder)
      violations.join(found, receipt?.violations.unjudged ?? 0)
      for (const miss of misses) recordings.addMiss(miss)
      prompts.join(overBudget)
    },
  }
}

/** What is not at its default. */
const optionsIn = ({ config, originOf }: LoadedConfig): readonly Override[] =>
  allOptions().flatMap(({ path }) => {
    const origin = originOf(path)
    return origin === 'default' || ofEach.has(path[0] ?? '') ? [] : [{ path, value: valueAt(config, path), origin }]
  })
