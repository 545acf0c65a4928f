/** `standin recordings list`: all recordings, one per line. */
import path from 'node:path'
import { ageMsOf } from '../../config/recording-options.js'
import { type Folder, type Overview, overviewIn } from '../../recordings/index.js'
import { command } from '../command.js'
import { counted, inAge, inBytes, table } from '../format.js'
import { harmless, near } from '../output.js'
import { fileProgress } from '../progress.js'
import { groupedBy, openRecordings, type ReadResult, readEach, tellBroken } from './folder.js'

/** One line of the list. */
interface Row extends Overview {
  readonly file: string
  readonly key: string
  readonly nth: number
  readonly bytes: number
  readonly ageMs: number
  readonly stale: boolean
}

/** A table grouped by endpoint, or one JSON document with `--json`. Unreadable recordings are reported on standard error. */
export const commands = {
  'recordings list': command({
    flags: {},
    async run(line) {
      const { config, folder } = openRecordings(line)
      const kept = await folder.list()
      const read = await readEach(kept, file => overviewOf(folder, file), fileProgress(kept.length, line.flags))
      const rows = rowsOf(read, ageMsOf(config.recordings.maxAge))
      tellBroken(read)
      const groups = [...groupedBy(rows, ({ file }) => path.posix.dirname(file))].map(groupText)
      return {
        data: { dir: folder.dir, recordings: rows, broken: brokenIn(read) },
        words: [...groups, `${summary(rows, read.length - rows.length, near(folder.dir))}\n`].join('\n'),
      }
    },
  }),
}

async function overviewOf({ dir, text }: Folder, file: string) {
  const written = await text(file)
  return { ...overviewIn(written, near(path.join(dir, file))), bytes: Buffer.byteLength(written) }
}

type FolderOverview = Awaited<ReturnType<typeof overviewOf>>

function rowsOf(read: readonly ReadResult<FolderOverview>[], maxAgeMs: number): readonly Row[] {
  const now = Date.now()
  return read.flatMap(one => {
    if (one.kind === 'broken') return []
    const ageMs = now - Date.parse(one.value.recordedAt)
    return [{ ...one.kept, ...one.value, ageMs, stale: maxAgeMs > 0 && ageMs > maxAgeMs }]
  })
}

const brokenIn = (read: readonly ReadResult<FolderOverview>[]) =>
  read.flatMap(one => (one.kind === 'broken' ? [{ file: one.kept.file, problems: one.problems }] : []))

function groupText([folder, rows]: readonly [string, readonly Row[]]): string {
  const cells = rows.map(({ file, method, path: asked, model = '', status, form, bytes, ageMs, complete, stale }) => [
    path.posix.basename(file),
    harmless(`${method} ${asked}`),
    harmless(model),
    String(status),
    form,
    inBytes(bytes).padStart(7),
    inAge(ageMs).padStart(5),
    [...(complete ? [] : ['incomplete']), ...(stale ? ['stale'] : [])].join(', '),
  ])
  return `${folder} (${rows.length})\n${table(cells).join('\n')}\n`
}

function summary(rows: readonly Row[], broken: number, dir: string): string {
  if (rows.length + broken === 0) return `There are no recordings in ${dir}.`
  const count = (what: (row: Row) => boolean) => rows.filter(what).length
  const remarkable = [
    [count(({ complete }) => !complete), 'incomplete'],
    [count(({ stale }) => stale), 'stale'],
    [broken, 'broken'],
  ] as const
  const remarks = remarkable.flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : []))
  const size = inBytes(rows.reduce((sum, { bytes }) => sum + bytes, 0))
  return `${[counted(rows.length + broken, 'recording'), size, ...remarks].join(', ')}.`
}
