#!/usr/bin/env node
/** The entry point of the command: checks the version of Node, enables the compile cache, and loads the rest. */
import module from 'node:module'
import { nodeProblem } from './check/node-version.js'
import { limitYoungSpace } from './cli/young-space.js'

if (nodeProblem !== undefined) {
  console.error(nodeProblem)
  process.exit(1)
}
limitYoungSpace()
// Before the rest is loaded, hence the dynamic import. Also, an older Node could not parse it.
module.enableCompileCache()

const { run } = await import('./cli/main.js')
await run(process.argv.slice(2))
