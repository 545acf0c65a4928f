/** `standin import`: turns a HAR file into recordings. */
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { problemInWords, readText, textIn, UsageError } from '../check/problem.js'
import {
  type Folder,
  fileOf,
  type ImportResult,
  keysOf,
  Lookup,
  loadHar,
  type Recording,
  recordingText,
} from '../recordings/index.js'
import { createRedact } from '../redact/index.js'
import { command, folderFlags, textFlag, toggle } from './command.js'
import { pluralize, printable } from './output.js'
import { openRecordings } from './recordings.js'

const importFile = command({
  flags: {
    ...folderFlags,
    base: textFlag('URL', 'Base URL of the platform in the HAR file (upstream.baseUrl)'),
    overwrite: toggle('Replace existing recordings'),
  },
  async run(line) {
    const { args, flags } = line
    const [file = ''] = args
    const { config, folder, ignore, rules } = openRecordings(line)
    const base = baseIn(flags.base, config.upstream.baseUrl)
    const origin = file === '-' ? 'standard input' : file
    // Playwright attaches bodies in this way.
    if (/\.zip$/i.test(file)) throw new UsageError(`${file} is an archive. Unpack it, and import the .har file in it.`)
    const har = file === '-' ? textIn(await buffer(process.stdin), origin) : readText(file, file)
    const { importHar } = await loadHar()
    const source = { base, folder: file === '-' ? undefined : path.dirname(file) }
    const imported = importHar(har, origin, { ...source, ignore, redact: createRedact(rules) })
    for (const problem of imported.problems) console.error(printable(problemInWords(problem)))
    if (imported.problems.length > 0) console.error('Entries with mistakes were skipped.')
    const { written, existing } = await writeRecordings(new Lookup(folder, ignore), imported, flags.overwrite)
    const data = importData(imported, written, existing)
    return { data, text: `${importLines(data, existing, base).join('\n')}\n` }
  },
})

export const importCommands = { import: importFile }

/** Returns the files that were written, and the number of exchanges that were not, because they were already recorded. */
async function writeRecordings(lookup: Lookup, { byKey }: ImportResult, overwrites: boolean) {
  await lookup.all()
  const written: string[] = []
  let existing = 0
  for (const recordings of byKey.values()) {
    const [first] = recordings
    const keys = first && keysOf(first.request, lookup.ignore)
    const old = keys ? lookup.equal(keys, '') : []
    if (old.length > 0 && !overwrites) existing += recordings.length
    else if (keys) written.push(...replaceRecordings(lookup.folder, recordings, keys, old))
  }
  return { written, existing }
}

function replaceRecordings(
  folder: Folder,
  recordings: readonly Recording[],
  { conversation }: ReturnType<typeof keysOf>,
  old: readonly { readonly file: string; readonly place: number }[],
) {
  const files = recordings.map(recording => {
    // Keeps the file name of the old recording, which may have been chosen by hand.
    const file = old.find(({ place }) => place === recording.place)?.file
    if (file === undefined) return folder.create(fileOf(recording.request, conversation, ''), recordingText(recording))
    folder.replace(file, recordingText(recording))
    return file
  })
  folder.remove(old.map(({ file }) => file).filter(file => !files.includes(file)))
  return files
}

const importData = (
  { passedOver, mended, remarks, problems }: ImportResult,
  written: readonly string[],
  existing: number,
) => ({
  imported: written,
  passedOver: { ...Object.fromEntries(passedOver), ...(existing > 0 && { 'already recorded': existing }) },
  mended,
  remarks,
  ...(problems.length > 0 && { leftOut: problems.map(({ sentence }) => sentence) }),
})

function importLines(
  data: ReturnType<typeof importData>,
  existing: number,
  base: string | undefined,
): readonly string[] {
  const reasons = Object.entries(data.passedOver)
  const servers =
    base === undefined ? ' Requests to any server count, because neither upstream.baseUrl nor --base is set.' : ''
  return [
    ...data.imported,
    `${pluralize(data.imported.length, 'exchange')} imported${data.mended > 0 ? `, ${data.mended} of them mended` : ''}.${servers}`,
    ...(reasons.length > 0 ? ['Skipped:', ...reasons.map(reason => `  ${skippedText(reason)}`)] : []),
    ...(existing > 0 ? ['Use --overwrite to replace existing recordings.'] : []),
    ...data.remarks,
  ]
}

/** `2 preflights`, or `1 request to other servers`. */
const skippedText = ([reason, count]: readonly [reason: string, count: number]) =>
  reason === 'preflights' || reason === 'static files'
    ? pluralize(count, reason.slice(0, -1))
    : `${pluralize(count, 'request')} ${reason}`

/** The base URL of the platform's paths. Throws a UsageError for an invalid one. */
function baseIn(base: string | undefined, configured: string): string | undefined {
  if (base === undefined) return configured || undefined
  if (!/^https?:\/\/[^@?#]+$/i.test(base) || !URL.canParse(base)) {
    throw new UsageError(`--base must be an http or https address such as https://platform.example.com, not "${base}".`)
  }
  // The base URL of OpenAI's clients. Below it, the paths would lack their /v1.
  if (!/\/v1\/*$/i.test(new URL(base).pathname)) return base
  throw new UsageError(`--base must be the address before /v1, not "${base}".`)
}
