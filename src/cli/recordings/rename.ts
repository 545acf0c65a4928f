/** `standin recordings rename`: renames recordings, and never overwrites one. */
import { rename as moveFile, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path/posix'
import { UsageError } from '../../check/problem.js'
import { type Folder, fileOf, inOrder, keyOf } from '../../recordings/index.js'
import { command, yes } from '../command.js'
import { counted } from '../format.js'
import type { Printing } from '../progress.js'
import { findOne, groupedBy, openRecordings, readAll, removeEmptyFolders } from './folder.js'

interface Move {
  readonly from: string
  readonly to: string
}

/** With two words, gives one recording a new slug. Without words, gives all recordings the names they would get today. */
export const commands = {
  'recordings rename': command({
    flags: { 'dry-run': yes('Only print what would be done') },
    async run(line) {
      const [old, slug] = line.words
      const opened = openRecordings(line)
      const { folder } = opened
      const moves =
        old === undefined || slug === undefined ? await movesToday(opened, line.flags) : await moveOf(folder, old, slug)
      const isDry = line.flags['dry-run']
      if (!isDry) {
        await moveAll(folder, moves)
        await removeEmptyFolders(
          folder.dir,
          moves.map(({ from }) => from),
        )
      }
      return { data: { dryRun: isDry, renamed: moves }, words: wordsOf(moves, isDry ? 'would be renamed' : 'renamed') }
    },
  }),
}

function wordsOf(moves: readonly Move[], what: string): string {
  const lines = moves.map(({ from, to }) => `${from} -> ${to}`)
  return `${[...lines, `${counted(lines.length, 'recording')} ${what}.`].join('\n')}\n`
}

/** Keeps the folder, the key and the number. If the number is taken under the new name, uses the next one. */
async function moveOf(folder: Folder, old: string, slug: string): Promise<readonly Move[]> {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug) || slug.length > 100)
    throw new UsageError(
      `A name must consist of lower-case letters, digits and single dashes, such as greeting-in-french, not "${slug}".`,
    )
  const kept = await findOne(folder, old)
  const used = new Set((await folder.list()).map(({ file }) => file))
  const named = (nth: number) => `${path.dirname(kept.file)}/${slug}-${kept.key}${nth > 1 ? `-${nth}` : ''}.yaml`
  if (named(kept.nth) === kept.file) return []
  let nth = kept.nth
  while (used.has(named(nth))) nth++
  return [{ from: kept.file, to: named(nth) }]
}

async function movesToday({ folder, ignore }: ReturnType<typeof openRecordings>, flags: Printing) {
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
  const go = async ({ from, to }: Move) => {
    await folder.rename(from, to)
    used.delete(from)
    used.add(to)
  }
  let waiting = moves
  while (waiting.length > 0) {
    const blocked: Move[] = []
    for (const move of waiting) {
      if (used.has(move.to)) blocked.push(move)
      else await go(move).then(() => putKey(folder, move.to))
    }
    const [first, ...others] = blocked
    // The rest form a cycle, so one file gets a temporary name.
    if (first && blocked.length === waiting.length) {
      const aside = nextFree(first.from, used)
      await go({ from: first.from, to: aside })
      waiting = [...others, { from: aside, to: first.to }]
    } else waiting = blocked
  }
}

function nextFree(file: string, used: ReadonlySet<string>): string {
  const named = (nth: number) => file.replace(/(?<=[0-9a-f]{12})(-\d+)?\.yaml$/, `-${nth}.yaml`)
  let nth = 2
  while (used.has(named(nth))) nth++
  return named(nth)
}

/** Updates the key that is written in the file for readers. The rest stays as it is, because it may have been edited by hand. */
async function putKey({ dir }: Folder, file: string): Promise<void> {
  const place = path.join(dir, file)
  const [, key = ''] = /([0-9a-f]{12})(?:-\d+)?\.yaml$/.exec(file) ?? []
  const text = await readFile(place, 'utf8')
  const keyed = text.replace(/^key: .*$/m, `key: ${/^[a-f]/.test(key) ? key : JSON.stringify(key)}`)
  if (keyed === text) return
  const unfinished = path.join(path.dirname(place), `.${path.basename(place)}.${process.pid}-0.tmp`)
  await writeFile(unfinished, keyed)
  await moveFile(unfinished, place)
}
