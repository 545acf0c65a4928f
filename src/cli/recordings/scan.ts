/** `standin recordings scan`: finds secrets in recordings and other files, and reports their places without showing them. */
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { type Problem, ProblemsError, unreadable } from '../../check/problem.js'
import { bodyOf, type Folder } from '../../recordings/index.js'
import { findSecrets, type RedactionRules, type SecretFinding } from '../../redact/index.js'
import { command, folderFlags } from '../command.js'
import { pluralize } from '../format.js'
import { relativePath } from '../output.js'
import { eachFile, openRecordings } from './folder.js'

interface FileFinding extends SecretFinding {
  readonly file: string
}

export const commands = {
  'recordings scan': command({
    flags: folderFlags,
    async run(line) {
      const { folder, rules } = openRecordings(line)
      const recordingFiles = (await filesBelow(folder.dir)).map(file => path.join(folder.dir, file))
      const files = [...new Set([...recordingFiles, ...line.args.map(file => path.resolve(file))])].map(relativePath)
      const results = await eachFile(files, line.flags, file => findingsIn(file, folder, rules))
      const problems = results.flatMap(result => (Array.isArray(result) ? [] : [result]))
      if (problems.length > 0) throw new ProblemsError(problems)
      const found = results.filter(Array.isArray).flat()
      if (found.length === 0) return { data: found, text: `No secrets in ${pluralize(files.length, 'file')}.\n` }
      process.exitCode = 1
      const words = found.map(({ file, line, column, kind }) => `${file}:${line}:${column}: ${kind}\n`).join('')
      // Text alone is also printed with --quiet, which must not hide problems.
      return line.flags.json ? { data: found, text: words } : words
    },
  }),
}

/** All files, including those behind links, since they would be committed with the recordings. Visits each folder once. */
async function filesBelow(dir: string): Promise<readonly string[]> {
  const seen = new Set<string>()
  const files: string[] = []
  async function visit(folder: string): Promise<void> {
    const realFolder = await realpath(folder)
    if (seen.has(realFolder)) return
    seen.add(realFolder)
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const file = path.join(folder, entry.name)
      const kind = entry.isSymbolicLink() ? await stat(file).catch(ignoreBrokenLink) : entry
      if (kind?.isDirectory()) await visit(file)
      else if (kind?.isFile()) files.push(path.relative(dir, file))
    }
  }
  await visit(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && seen.size === 0) return
    // A folder that cannot be searched must not pass as free of secrets.
    throw new ProblemsError([unreadable(relativePath(error.path ?? dir), error)])
  })
  return files.sort()
}

/** For links that are broken or circular; throws other errors. */
function ignoreBrokenLink(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ELOOP') throw error
}

async function findingsIn(file: string, folder: Folder, rules: RedactionRules): Promise<FileFinding[] | Problem> {
  let bytes: Buffer
  try {
    bytes = await readFile(file)
  } catch (error) {
    return unreadable(file, error)
  }
  // Binary files are read as latin1, which keeps byte positions and the ASCII letters of secrets.
  const text = bytes.toString(bytes.includes(0) ? 'latin1' : 'utf8')
  const findings = findSecrets(text, rules)
  const kinds = new Set(findings.map(({ kind }) => kind))
  const kindsInStream = /^ {2}chunks:/m.test(text)
    ? await kindsInBody(path.relative(folder.dir, file), folder, rules)
    : []
  const more = kindsInStream.filter(kind => !kinds.has(kind)).map(kind => ({ kind, line: 1, column: 1 }))
  return [...findings, ...more].map(finding => ({ file, ...finding }))
}

/** The kinds of secrets in the assembled body: a secret that is split over two chunks shows only there. */
async function kindsInBody(file: string, folder: Folder, rules: RedactionRules): Promise<readonly string[]> {
  const recording = await folder.read(file).catch((error: unknown) => {
    // The raw text has been searched. Invalid recordings are reported by other commands.
    if (error instanceof ProblemsError) return undefined
    throw error
  })
  const body = recording ? bodyOf(recording.response).toString('utf8') : ''
  return [...new Set(findSecrets(body, rules).map(({ kind }) => kind))]
}
