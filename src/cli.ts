#!/usr/bin/env node
/** The command's entry: says which Node is needed, keeps everything that is run again at the next start compiled, and loads the rest. */
import module from 'node:module'

// Everything else is imported below: an older Node could not even read it. package.json says the same under "engines".
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `Standin needs Node 20.19 or newer, and this is Node ${process.versions.node}. Install a newer one: https://nodejs.org.`,
  )
  process.exit(1)
}
// It must be on before the rest is loaded, hence the import that waits. Only Node 22.1 and newer have it; the types of Node 20 do not.
;(module as { enableCompileCache?: () => void }).enableCompileCache?.()

const { run } = await import('./cli/main.js')
await run(process.argv.slice(2))
