/**
 * Compiled code of the largest built files, kept beside them from one start to the next: to compile them took half of what a start added to
 * bare Node. Node 20 keeps none itself, and what later versions keep saves less. `compiled` in rolldown.config.ts makes the files that use
 * this; code that runs from its sources does not.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'

/** Jest runs tests in a realm of their own, whose objects a script in the main one would not have. */
const isMainRealm = new Script('globalThis').runInThisContext() === globalThis

/** What was compiled here and is not kept yet, with the file for it. */
const unkept = new Map<string, Script>()

/**
 * Returns the value of the expression in a built file. `digest` is that of its text: V8 itself compares only the length, so the compiled code
 * of each build needs a name of its own.
 */
function run(url: URL, digest: string): unknown {
  const filename = fileURLToPath(url)
  // Built files are ASCII.
  const source = readFileSync(filename, 'latin1')
  if (!isMainRealm) return Function(`return ${source}\n//# sourceURL=${url}`)()
  const file = `${filename}.${digest}.${process.arch}.${process.versions.v8}`
  const cachedData = dataIn(file)
  const script = new Script(source, { filename: url.href, ...(cachedData && { cachedData }) })
  // V8 also refuses what it compiled with other flags.
  if (!cachedData || script.cachedDataRejected) unkept.set(file, script)
  return script.runInThisContext()
}

function dataIn(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}

/**
 * Keeps what is not kept yet, with all functions that have been called so far. Takes some milliseconds, once in an installation. If this
 * process may not write there, nothing is kept.
 */
function keep(): void {
  for (const [file, script] of unkept) {
    const partial = `${file}.${randomUUID()}`
    try {
      writeFileSync(partial, script.createCachedData())
      renameSync(partial, file)
    } catch {
      rmSync(partial, { force: true })
    }
  }
  unkept.clear()
}

export const compiledCode = { run, keep }
