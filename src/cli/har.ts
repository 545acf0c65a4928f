/** `standin import` and `standin export`: convert recordings from and to a HAR file. */
import { text as textFrom } from 'node:stream/consumers'
import { problemInWords, UsageError } from '../check/problem.js'
import { readText } from '../config/load.js'
import {
  type Folder,
  fileOf,
  type ImportResult,
  loadHar,
  type Recording,
  type RecordingFile,
} from '../recordings/index.js'
import { createRedact } from '../redact/index.js'
import { version } from '../version.js'
import { command, fileName, text, yes } from './command.js'
import { requireNew, rulesFrom, writeRules } from './drafted-rules.js'
import { counted } from './format.js'
import { harmless } from './output.js'
import { fileProgress, type Printing } from './progress.js'
import { groupedBy, openRecordings, readAll } from './recordings/folder.js'
import { writeReport } from './report/reporter.js'

const base = text('URL', 'Base URL of the platform in the HAR file (upstream.baseUrl)')

const importFile = command({
  flags: {
    base,
    overwrite: yes('Replace existing recordings'),
    rules: fileName('Write rules to this new file, instead of recordings'),
  },
  async run(line) {
    const { words, flags } = line
    const [file = ''] = words
    if (flags.rules !== undefined) requireNew('--rules', flags.rules)
    const { config, folder, ignore, rules } = openRecordings(line)
    const base = baseIn(flags.base, config.upstream.baseUrl)
    const origin = file === '-' ? 'standard input' : file
    const har = file === '-' ? await textFrom(process.stdin) : readText(file, file)
    const { importHar } = await loadHar()
    const imported = importHar(har, origin, { base, ignore, redact: createRedact(rules) })
    for (const problem of imported.problems) console.error(harmless(problemInWords(problem)))
    if (imported.problems.length > 0) console.error('Entries with mistakes are left out.')
    if (flags.rules !== undefined) return writeRules(flags.rules, rulesFrom([...imported.byKey].flatMap(numbered)))
    const { written, there } = await keep(folder, imported, flags)
    const data = inJson(imported, written, there)
    return { data, words: `${inWords(imported, data, there, base).join('\n')}\n` }
  },
})

/** Writes to a file, or returns what to print. Unreadable recordings are reported and left out. */
const exportFile = command({
  flags: { base },
  async run(line) {
    const { words, flags } = line
    const [file = ''] = words
    const { config, folder } = openRecordings(line)
    const { read } = await readAll(folder, flags, folder.read)
    const all = read.map(recording => ({ recording, nth: recording.entry.nth }))
    // HAR needs absolute URLs; without a live platform any host will do.
    const base = baseIn(flags.base, config.upstream.baseUrl) ?? 'http://localhost'
    const { harOf } = await loadHar()
    const har = harOf(all, { base: base.replace(/\/+$/, ''), version })
    if (file === '-') return har
    await writeReport(file, har)
    return flags.quiet ? '' : `${counted(all.length, 'recording')} exported to ${file}.\n`
  },
})

export const commands = { import: importFile, export: exportFile }

/** The recordings of a key with the numbers that their files would have. */
const numbered = ([key, recordings]: readonly [string, readonly Recording[]]) =>
  recordings.map((recording, i) => ({ entry: { key, nth: i + 1 }, ...recording }))

/** Returns the files written, and how many exchanges had been recorded before. */
async function keep(folder: Folder, { byKey }: ImportResult, flags: Printing & { readonly overwrite: boolean }) {
  const progress = fileProgress(byKey.size, flags)
  const known = groupedBy(await folder.list(), ({ key }) => key)
  const written: string[] = []
  let there = 0
  try {
    for (const [key, recordings] of byKey) {
      const old = known.get(key) ?? []
      if (old.length > 0 && !flags.overwrite) there += recordings.length
      else written.push(...(await replace(folder, key, recordings, old)))
      progress.step()
    }
  } finally {
    progress.end()
  }
  return { written, there }
}

async function replace(folder: Folder, key: string, recordings: readonly Recording[], old: readonly RecordingFile[]) {
  const files: string[] = []
  for (const [i, recording] of recordings.entries()) {
    const nth = i + 1
    // Keeps the file name of the old recording, which may have been chosen by hand.
    const file = old.find(entry => entry.nth === nth)?.file ?? fileOf(recording.request, key, nth)
    await folder.write(file, recording, key)
    files.push(file)
  }
  for (const { file } of old) if (!files.includes(file)) await folder.remove(file)
  return files
}

const inJson = ({ passedOver, remarks, problems }: ImportResult, written: readonly string[], there: number) => ({
  imported: written,
  passedOver: { ...Object.fromEntries(passedOver), ...(there > 0 && { 'recorded already': there }) },
  remarks,
  ...(problems.length > 0 && { leftOut: problems.map(({ sentence }) => sentence) }),
})

function inWords({ remarks }: ImportResult, data: ReturnType<typeof inJson>, there: number, base: string | undefined) {
  const reasons = Object.entries(data.passedOver)
  return [
    ...data.imported,
    `${counted(data.imported.length, 'exchange')} imported${base === undefined ? ', whatever server they went to (no upstream.baseUrl, no --base)' : ''}.`,
    ...(reasons.length > 0 ? ['Passed over:', ...reasons.map(([reason, count]) => `  ${count} ${reason}`)] : []),
    ...(there > 0 ? ['Use --overwrite to replace existing recordings.'] : []),
    ...remarks,
  ]
}

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
