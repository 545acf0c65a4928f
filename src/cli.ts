#!/usr/bin/env node
/** The command's entry: everything that is run again at the next start is kept compiled, where node can do that (22.1 and newer). */
import module from 'node:module'

// It must be on before the rest is loaded, hence the import that waits. Types of Node 20 do not know it.
;(module as { enableCompileCache?: () => void }).enableCompileCache?.()

const { run } = await import('./cli/main.js')
await run(process.argv.slice(2))
