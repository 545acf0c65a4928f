/**
 * Caches the compiled code of the largest built files beside them, since compiling them took half of the time that a start
 * adds to bare Node. Node 20 has no cache of its own, and that of later versions saves less. `compiled` in
 * rolldown.config.ts creates the files that use this; code that runs from its sources does not.
 */
import { hash, randomUUID } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'

/** Jest runs tests in a realm of their own. A script in the main realm would create objects of other classes. */
const isMainRealm = new Script('globalThis').runInThisContext() === globalThis

/** A cache file begins with the digest of the rest. */
const digestOf = (data: Buffer) => hash('sha256', data, 'buffer')
const DIGEST_BYTES = 32

/** Scripts whose compiled code is not saved yet, by cache file. */
const unsaved = new Map<string, Script>()

/**
 * Returns the value of the expression in a built file. `digest` is that of its text, and part of the cache file's name,
 * because V8 only compares the length of the text.
 */
function run(url: URL, digest: string): unknown {
  const filename = fileURLToPath(url)
  const source = sourceIn(filename)
  if (!isMainRealm) return Function(`return ${source}\n//# sourceURL=${url}`)()
  const file = `${filename}.${digest}.${process.arch}.${process.versions.v8}`
  const cachedData = cachedDataIn(file)
  const script = new Script(source, { filename: url.href, ...(cachedData && { cachedData }) })
  // V8 rejects code that was compiled with other flags.
  if (!cachedData || script.cachedDataRejected) unsaved.set(file, script)
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

/** The compiled code in a cache file, if it is undamaged: V8 would end the process if a byte of it differed. */
function cachedDataIn(file: string): Buffer | undefined {
  try {
    const bytes = readFileSync(file)
    const data = bytes.subarray(DIGEST_BYTES)
    return bytes.subarray(0, DIGEST_BYTES).equals(digestOf(data)) ? data : undefined
  } catch {
    return undefined
  }
}

/**
 * Saves the compiled code that is not saved yet, with all functions that have been called so far. Takes some milliseconds,
 * once per installation. Does nothing if this process may not write there.
 */
function save(): void {
  for (const [file, script] of unsaved) {
    const partial = `${file}.${randomUUID()}`
    try {
      const data = script.createCachedData()
      writeFileSync(partial, Buffer.concat([digestOf(data), data]))
      renameSync(partial, file)
    } catch {
      rmSync(partial, { force: true })
    }
  }
  unsaved.clear()
}

export const compiledCode = { run, save }
