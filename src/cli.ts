#!/usr/bin/env node
/** The entry point of the command: checks the version of Node, enables the compile cache, and loads the rest. */
import module from 'node:module'

// Everything else is imported below, because an older Node could not parse it. package.json has the same version under "engines".
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `Standin needs Node 20.19 or newer, and this is Node ${process.versions.node}. Install a newer one: https://nodejs.org.`,
  )
  process.exit(1)
}
// The cache must be enabled before the rest is loaded, hence the dynamic import. Only Node 22.1 and later have it, and the types of Node 20 do not.
;(module as { enableCompileCache?: () => void }).enableCompileCache?.()

const { run } = await import('./cli/main.js')
await run(process.argv.slice(2))
