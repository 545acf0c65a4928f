/** `standin recordings list`: all recordings, one per line. */
import path from 'node:path'
import { ageMsOf } from '../../config/recording-options.js'
import { type Folder, type Overview, overviewIn, type RecordingFile } from '../../recordings/index.js'
import { command } from '../command.js'
import { formatAge, formatBytes, pluralize, table } from '../format.js'
import { printable, relativePath } from '../output.js'
import { joinCounts } from '../report/report.js'
import { groupedBy, openRecordings, readAll } from './folder.js'

interface Row extends Overview, RecordingFile {
  readonly bytes: number
  readonly ageMs: number
  readonly stale: boolean
}

export const commands = {
  'recordings list': command({
    flags: {},
    async run(line) {
      const { config, folder } = openRecordings(line)
      const maxAgeMs = ageMsOf(config.recordings.maxAge)
      const { read, broken } = await readAll(folder, line.flags, file => overviewOf(folder, file))
      const now = Date.now()
      const rows = read.map(({ entry, ...overview }): Row => {
        const ageMs = now - Date.parse(overview.recordedAt)
        return { ...entry, ...overview, ageMs, stale: maxAgeMs > 0 && ageMs > maxAgeMs }
      })
      const groups = [...groupedBy(rows, ({ file }) => path.posix.dirname(file))].map(groupText)
      return {
        data: {
          dir: folder.dir,
          recordings: rows,
          broken: broken.map(({ entry, problems }) => ({ file: entry.file, problems })),
        },
        text: [...groups, `${summary(rows, broken.length, relativePath(folder.dir))}\n`].join('\n'),
      }
    },
  }),
}

async function overviewOf({ dir, text }: Folder, file: string) {
  const source = await text(file)
  return { ...overviewIn(source, relativePath(path.join(dir, file))), bytes: Buffer.byteLength(source) }
}

function groupText([folder, rows]: readonly [string, readonly Row[]]): string {
  const cells = rows.map(({ file, method, path: asked, model = '', status, form, bytes, ageMs, complete, stale }) => [
    path.posix.basename(file),
    printable(`${method} ${asked}`),
    printable(model),
    String(status),
    form,
    formatBytes(bytes).padStart(7),
    formatAge(ageMs).padStart(5),
    [...(complete ? [] : ['incomplete']), ...(stale ? ['stale'] : [])].join(', '),
  ])
  return `${folder} (${rows.length})\n${table(cells).join('\n')}\n`
}

function summary(rows: readonly Row[], broken: number, dir: string): string {
  if (rows.length + broken === 0) return `There are no recordings in ${dir}.`
  const count = (what: (row: Row) => boolean) => rows.filter(what).length
  const remarks = joinCounts([
    [count(({ complete }) => !complete), 'incomplete'],
    [count(({ stale }) => stale), 'stale'],
    [broken, 'broken'],
  ])
  const size = formatBytes(rows.reduce((sum, { bytes }) => sum + bytes, 0))
  return `${[pluralize(rows.length + broken, 'recording'), size, remarks].filter(Boolean).join(', ')}.`
}
