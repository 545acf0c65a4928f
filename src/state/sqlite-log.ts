/** Checks SQLite's write-ahead log for damage, since SQLite silently ignores everything after a damaged frame. */
import { copyFileSync, readFileSync, statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

// The file format: https://www.sqlite.org/fileformat2.html#walformat
const HEADER = 32
const FRAME_HEADER = 24
/** SQLite empties the log at about 4 MB. A much longer one would take too long to read at the start. */
const LONGEST_BYTES = 2 ** 26

/**
 * Copies a database whose log is damaged, and warns about it. Called before the database is opened, which may delete
 * the log.
 */
export async function reportDamage(file: string, warn: (sentence: string) => void): Promise<void> {
  if (damageIn(file) === undefined) return
  // Another process may have been in the middle of a write.
  await pause(50)
  const damage = damageIn(file)
  if (damage === undefined) return
  warn(`The write-ahead log of ${file} is damaged${damage}: changes after that are lost. ${keepCopies(file)}`)
}

function keepCopies(file: string): string {
  try {
    for (const ending of ['', '-wal']) copyFileSync(file + ending, `${file}.damaged${ending}`)
    return `The original files are kept as ${file}.damaged and ${file}.damaged-wal.`
  } catch (error) {
    return `No copy could be saved (${(error as NodeJS.ErrnoException).code}).`
  }
}

/** Describes where the log is damaged, as part of a sentence; `undefined` if it is not, or if there is no log. */
function damageIn(file: string): string | undefined {
  const size = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (size <= HEADER || size > LONGEST_BYTES) return undefined
  const log = readFileSync(`${file}-wal`)
  const magic = log.readUInt32BE(0)
  const checksum = checksums(magic === 0x377f0683)
  const isHeaderValid = (magic === 0x377f0682 || magic === 0x377f0683) && checksum.matches(log.subarray(0, 24), log, 24)
  if (!isHeaderValid) return ' at its beginning'
  const frameBytes = FRAME_HEADER + log.readUInt32BE(8)
  const salts = log.subarray(16, 24)
  /** Frames with other salts are left over from before the log was last emptied. */
  const isOurs = (at: number) => log.subarray(at + 8, at + 16).equals(salts)
  let at = HEADER
  for (; at + frameBytes <= log.length && isOurs(at); at += frameBytes) {
    const isFrameValid =
      checksum.matches(log.subarray(at, at + 8), log, -1) ||
      checksum.matches(log.subarray(at + FRAME_HEADER, at + frameBytes), log, at + 16)
    if (!isFrameValid) return ` at byte ${at}`
  }
  for (let later = at; later + frameBytes <= log.length; later += frameBytes) if (isOurs(later)) return ` at byte ${at}`
  return undefined
}

/** SQLite's checksum, which continues from one part of the file to the next. */
function checksums(isBigEndian: boolean) {
  let [s0, s1] = [0, 0]
  return {
    /**
     * Adds `bytes` and returns whether the log contains the checksum at `at`. If `at` is negative, there is nothing to
     * compare yet.
     */
    matches(bytes: Buffer, log: Buffer, at: number): boolean {
      for (let i = 0; i + 8 <= bytes.length; i += 8) {
        const word = (from: number) => (isBigEndian ? bytes.readUInt32BE(from) : bytes.readUInt32LE(from))
        s0 = (s0 + word(i) + s1) >>> 0
        s1 = (s1 + word(i + 4) + s0) >>> 0
      }
      return at >= 0 && log.readUInt32BE(at) === s0 && log.readUInt32BE(at + 4) === s1
    },
  }
}
