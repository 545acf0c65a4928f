/** `standin recordings rename`: renames recordings, and never overwrites one. */
import { rename as moveFile, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path/posix'
import { UsageError } from '../../check/problem.js'
import { type Folder, fileOf, inOrder, keyOf } from '../../recordings/index.js'
import { command, toggle } from '../command.js'
import { pluralize } from '../format.js'
import type { OutputFlags } from '../progress.js'
import { findOne, groupedBy, openRecordings, readAll, removeEmptyFolders } from './folder.js'

interface Move {
  readonly from: string
  readonly to: string
}

/** With two arguments, changes the slug of one recording. Without, gives all recordings the names they would get today. */
export const commands = {
  'recordings rename': command({
    flags: { 'dry-run': toggle('Only print what would be renamed') },
    async run(line) {
      const [old, slug] = line.args
      const opened = openRecordings(line)
      const { folder } = opened
      const moves =
        old === undefined || slug === undefined
          ? await movesToCurrentNames(opened, line.flags)
          : await moveToSlug(folder, old, slug)
      const isDry = line.flags['dry-run']
      if (!isDry) {
        await moveAll(folder, moves)
        await removeEmptyFolders(
          folder.dir,
          moves.map(({ from }) => from),
        )
      }
      return { data: { dryRun: isDry, renamed: moves }, text: textOf(moves, isDry ? 'would be renamed' : 'renamed') }
    },
  }),
}

function textOf(moves: readonly Move[], what: string): string {
  const lines = moves.map(({ from, to }) => `${from} -> ${to}`)
  return `${[...lines, `${pluralize(lines.length, 'recording')} ${what}.`].join('\n')}\n`
}

/** Keeps the folder, the key and the number. If the new name is taken with this number, uses the next free one. */
async function moveToSlug(folder: Folder, old: string, slug: string): Promise<readonly Move[]> {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug) || slug.length > 100)
    throw new UsageError(
      `A name must consist of lower-case letters, digits and single dashes, such as greeting-in-french, not "${slug}".`,
    )
  const entry = await findOne(folder, old)
  const used = new Set((await folder.list()).map(({ file }) => file))
  const nameFor = (nth: number) => `${path.dirname(entry.file)}/${slug}-${entry.key}${nth > 1 ? `-${nth}` : ''}.yaml`
  if (nameFor(entry.nth) === entry.file) return []
  let nth = entry.nth
  while (used.has(nameFor(nth))) nth++
  return [{ from: entry.file, to: nameFor(nth) }]
}

async function movesToCurrentNames({ folder, ignore }: ReturnType<typeof openRecordings>, flags: OutputFlags) {
  const { read, broken } = await readAll(folder, flags, folder.read)
  const found = read.map(recording => ({ ...recording, key: keyOf(recording.request, ignore) }))
  const moves: Move[] = []
  for (const [key, same] of groupedBy(found, ({ key }) => key)) {
    // Files that already have this key come first, and keep their numbers if those are unique.
    const ordered = inOrder(same).toSorted((a, b) => Number(a.entry.key !== key) - Number(b.entry.key !== key))
    const numbers = new Set(broken.flatMap(({ entry }) => (entry.key === key ? [entry.nth] : [])))
    for (const { entry, request } of ordered) {
      const nth = entry.key === key && !numbers.has(entry.nth) ? entry.nth : Math.max(0, ...numbers) + 1
      numbers.add(nth)
      const to = fileOf(request, key, nth)
      if (to !== entry.file) moves.push({ from: entry.file, to })
    }
  }
  return moves
}

/** Renames each file once its new name is free; another file may have to be renamed first. */
async function moveAll(folder: Folder, moves: readonly Move[]): Promise<void> {
  const used = new Set((await folder.list()).map(({ file }) => file))
  const rename = async ({ from, to }: Move) => {
    await folder.rename(from, to)
    used.delete(from)
    used.add(to)
  }
  let waiting = moves
  while (waiting.length > 0) {
    const blocked: Move[] = []
    for (const move of waiting) {
      if (used.has(move.to)) blocked.push(move)
      else await rename(move).then(() => updateKey(folder, move.to))
    }
    const [first, ...others] = blocked
    // The remaining moves form a cycle, so one file gets a temporary name.
    if (first && blocked.length === waiting.length) {
      const temporaryName = nextFreeName(first.from, used)
      await rename({ from: first.from, to: temporaryName })
      waiting = [...others, { from: temporaryName, to: first.to }]
    } else waiting = blocked
  }
}

function nextFreeName(file: string, used: ReadonlySet<string>): string {
  const nameFor = (nth: number) => file.replace(/(?<=[0-9a-f]{12})(-\d+)?\.yaml$/, `-${nth}.yaml`)
  let nth = 2
  while (used.has(nameFor(nth))) nth++
  return nameFor(nth)
}

/** Updates the key that is written in the file. The rest stays as it is, because it may have been edited by hand. */
async function updateKey({ dir }: Folder, file: string): Promise<void> {
  const target = path.join(dir, file)
  const [, key = ''] = /([0-9a-f]{12})(?:-\d+)?\.yaml$/.exec(file) ?? []
  const text = await readFile(target, 'utf8')
  const updated = text.replace(/^key: .*$/m, `key: ${/^[a-f]/.test(key) ? key : JSON.stringify(key)}`)
  if (updated === text) return
  const temporaryFile = path.join(path.dirname(target), `.${path.basename(target)}.${process.pid}-0.tmp`)
  await writeFile(temporaryFile, updated)
  await moveFile(temporaryFile, target)
}
