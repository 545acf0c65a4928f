#!/usr/bin/env node
/** The entry point of the command: checks the version of Node, enables the compile cache, and loads the rest. */
import module from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { nodeProblem } from './check/node-version.js'

if (nodeProblem !== undefined) {
  console.error(nodeProblem)
  process.exit(1)
}
// Under load, V8 would grow its space for new objects to 64 MB and keep it, since the journal's exchanges survive.
setFlagsFromString('--semi-space-growth-factor=1')
// Before the rest is loaded, hence the dynamic import. Also, an older Node could not parse it.
module.enableCompileCache()

const { run } = await import('./cli/main.js')
await run(process.argv.slice(2))
