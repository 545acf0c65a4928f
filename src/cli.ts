#!/usr/bin/env node
/** The entry point of the command: checks the version of Node, enables the compile cache, and loads the rest. */
import module from 'node:module'

// Everything else is imported below, because an older Node could not parse it. package.json has the same versions under "engines".
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || major === 23 || (major === 22 && minor < 15)) {
  console.error(
    `Standin needs Node 22.15, 24 or newer, and this is Node ${process.versions.node}. Install a newer one: https://nodejs.org.`,
  )
  process.exit(1)
}
// Before the rest is loaded, hence the dynamic import.
module.enableCompileCache()

const { run } = await import('./cli/main.js')
await run(process.argv.slice(2))
