/** `standin recordings scan`: finds secrets in recordings and other files, and reports their places without showing them. */
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { type Problem, ProblemsError, unreadable } from '../../check/problem.js'
import { bodyOf, type Folder } from '../../recordings/index.js'
import { findSecrets, type RedactionRules, type SecretFinding } from '../../redact/index.js'
import { command } from '../command.js'
import { counted } from '../format.js'
import { harmless, near } from '../output.js'
import { fileProgress } from '../progress.js'
import { eachWithProgress, openRecordings } from './folder.js'

interface FoundIn extends SecretFinding {
  readonly file: string
}

export const commands = {
  'recordings scan': command({
    flags: {},
    async run(line) {
      const { folder, rules } = openRecordings(line)
      const inFolder = (await filesBelow(folder.dir)).map(file => path.join(folder.dir, file))
      const files = [...new Set([...inFolder, ...line.words.map(file => path.resolve(file))])]
      const progress = fileProgress(files.length, line.flags)
      const search = (file: string) => {
        progress.at(harmless(near(file)))
        return findingsIn(file, folder, rules)
      }
      const searched = await eachWithProgress(files, search, progress)
      const problems = searched.flatMap(result => (Array.isArray(result) ? [] : [result]))
      if (problems.length > 0) throw new ProblemsError(problems)
      const found = searched.filter(Array.isArray).flat()
      if (found.length === 0) return { data: found, words: `No secrets in ${counted(files.length, 'file')}.\n` }
      process.exitCode = 1
      const words = found.map(({ file, line, column, kind }) => `${file}:${line}:${column}: ${kind}\n`).join('')
      // A problem, which --quiet must not hide.
      return line.flags.json ? { data: found, words } : words
    },
  }),
}

/** All files, including those behind links, since all of them would be committed with the recordings. Each folder is visited once. */
async function filesBelow(dir: string): Promise<readonly string[]> {
  const seen = new Set<string>()
  const files: string[] = []
  async function lookInto(place: string): Promise<void> {
    const folder = await realpath(place)
    if (seen.has(folder)) return
    seen.add(folder)
    for (const entry of await readdir(place, { withFileTypes: true })) {
      const inside = path.join(place, entry.name)
      const kind = entry.isSymbolicLink() ? await stat(inside).catch(nothingThere) : entry
      if (kind?.isDirectory()) await lookInto(inside)
      else if (kind?.isFile()) files.push(path.relative(dir, inside))
    }
  }
  await lookInto(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && seen.size === 0) return
    // A folder that cannot be searched must not pass as free of secrets.
    throw new ProblemsError([unreadable(near(error.path ?? dir), error)])
  })
  return files.sort()
}

/** Ignores links that are broken or circular. */
function nothingThere(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ELOOP') throw error
}

async function findingsIn(file: string, folder: Folder, rules: RedactionRules): Promise<FoundIn[] | Problem> {
  let bytes: Buffer
  try {
    bytes = await readFile(file)
  } catch (error) {
    return unreadable(near(file), error)
  }
  // Binary files are read as latin1, which keeps byte positions and the ASCII letters of secrets.
  const text = bytes.toString(bytes.includes(0) ? 'latin1' : 'utf8')
  const written = findSecrets(text, rules)
  const kinds = new Set(written.map(({ kind }) => kind))
  const inside = /^ {2}chunks:/m.test(text) ? await kindsInside(path.relative(folder.dir, file), folder, rules) : []
  const more = inside.filter(kind => !kinds.has(kind)).map(kind => ({ kind, line: 1, column: 1 }))
  return [...written, ...more].map(finding => ({ file: near(file), ...finding }))
}

/** Kinds of secrets that only show in the assembled stream, because they are split over two chunks. */
async function kindsInside(file: string, folder: Folder, rules: RedactionRules): Promise<readonly string[]> {
  const recording = await folder.read(file).catch((error: unknown) => {
    // The raw text has been searched. Invalid recordings are reported by other commands.
    if (error instanceof ProblemsError) return undefined
    throw error
  })
  const body = recording ? bodyOf(recording.response).toString('utf8') : ''
  return [...new Set(findSecrets(body, rules).map(({ kind }) => kind))]
}
