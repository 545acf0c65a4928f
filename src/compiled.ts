/**
 * Compiled code of the largest built files, kept beside them from one start to the next: to compile them took half of what a start added to
 * bare Node. Node 20 keeps none itself, and what later versions keep saves less. `compiled` in rolldown.config.ts makes the files that use
 * this; code that runs from its sources does not.
 */
import { hash, randomUUID } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'

/** Jest runs tests in a realm of their own, whose objects a script in the main one would not have. */
const isMainRealm = new Script('globalThis').runInThisContext() === globalThis

/** A kept file begins with the digest of the rest. */
const digestOf = (data: Buffer) => hash('sha256', data, 'buffer')
const DIGEST_BYTES = 32

/** What was compiled here and is not kept yet, with the file for it. */
const unkept = new Map<string, Script>()

/**
 * Returns the value of the expression in a built file. `digest` is that of its text: V8 itself compares only the length, so the compiled code
 * of each build needs a name of its own.
 */
function run(url: URL, digest: string): unknown {
  const filename = fileURLToPath(url)
  const source = sourceIn(filename)
  if (!isMainRealm) return Function(`return ${source}\n//# sourceURL=${url}`)()
  const file = `${filename}.${digest}.${process.arch}.${process.versions.v8}`
  const cachedData = keptIn(file)
  const script = new Script(source, { filename: url.href, ...(cachedData && { cachedData }) })
  // V8 also refuses what it compiled with other flags.
  if (!cachedData || script.cachedDataRejected) unkept.set(file, script)
  return script.runInThisContext()
}

function sourceIn(file: string): string {
  try {
    // Built files are ASCII.
    return readFileSync(file, 'latin1')
  } catch (cause) {
    throw new Error(`Standin cannot read its file ${file}. If this code is bundled, leave Standin out of the bundle.`, {
      cause,
    })
  }
}

/** What is kept in a file, if it is as it was written: V8 ends the process when a byte of it differs. */
function keptIn(file: string): Buffer | undefined {
  try {
    const kept = readFileSync(file)
    const data = kept.subarray(DIGEST_BYTES)
    return kept.subarray(0, DIGEST_BYTES).equals(digestOf(data)) ? data : undefined
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
      const data = script.createCachedData()
      writeFileSync(partial, Buffer.concat([digestOf(data), data]))
      renameSync(partial, file)
    } catch {
      rmSync(partial, { force: true })
    }
  }
  unkept.clear()
}

export const compiledCode = { run, keep }
