/** Repairs a folder: takes out Git's conflict markers where both sides differ only in what is computed, and writes all files in today's form, under today's names. */
import { isDeepStrictEqual } from 'node:util'
import { ProblemsError } from '../check/problem.js'
import { changedText, recordingIn } from './file-text.js'
import { displayPath, type Folder, isProblem } from './folder.js'
import type { Ignore } from './ignore.js'
import { Lookup } from './lookup.js'
import { fileOf, hashesIn } from './names.js'
import type { Recording } from './recording.js'
import { saysTheSame } from './same-answer.js'

/** What was done to a file. */
export interface Repaired {
  readonly file: string
  readonly what: 'markers removed' | 'renamed' | 'removed, the same as another one'
  readonly to?: string
}

/** Returns what was done, and the problems that are left. Throws the error of the file system. */
export function repairFolder(folder: Folder, ignore: Ignore, isDry: boolean) {
  const repaired: Repaired[] = []
  const texts = new Map<string, string>()
  for (const file of folder.files()) {
    const text = textOf(folder, file)
    const whole = text === undefined ? undefined : withoutMarkers(text, file)
    if (whole === undefined || whole === text) continue
    repaired.push({ file, what: 'markers removed' })
    texts.set(file, whole)
    if (!isDry) folder.replace(file, whole)
  }
  const renamed = isDry ? [] : inTodaysForm(folder, ignore)
  const problems = [...folder.files()].flatMap(file => {
    const question = folder.question(file)
    return isProblem(question) && !(isDry && texts.has(file)) ? [question] : []
  })
  return { repaired: [...repaired, ...renamed], problems }
}

function textOf(folder: Folder, file: string): string | undefined {
  try {
    return folder.text(file)
  } catch {
    // It is named as a problem afterwards.
    return undefined
  }
}

const conflict = /^<{7} .*\r?\n([\s\S]*?)^(?:\|{7} .*\r?\n[\s\S]*?^)?={7}\r?\n([\s\S]*?)^>{7} .*(?:\r?\n|$)/gm

/** One side of a text with markers, if the other is the same recording; the text itself if it has none, and nothing if they differ. */
function withoutMarkers(text: string, file: string): string | undefined {
  const ours = text.replace(conflict, '$1')
  if (ours === text) return text
  const sides = [ours, text.replace(conflict, '$2')].flatMap(side => {
    try {
      return [{ text: side, recording: recordingIn(side, file) }]
    } catch (error) {
      if (error instanceof ProblemsError) return []
      throw error
    }
  })
  const [one, other] = sides
  return one && other && isSame(one.recording, other.recording) ? one.text : undefined
}

/** Whether two recordings differ at most in when and how fast they were made. */
const isSame = (one: Recording, other: Recording): boolean =>
  one.test === other.test &&
  one.place === other.place &&
  isDeepStrictEqual(one.request, other.request) &&
  saysTheSame(one.response, other.response)

/** Gives today's form and name to recordings of earlier versions, and removes those that are there twice. */
function inTodaysForm(folder: Folder, ignore: Ignore): readonly Repaired[] {
  const lookup = new Lookup(folder, ignore)
  const repaired: Repaired[] = []
  for (const file of [...folder.files()].sort()) {
    const [known, recording] = [lookup.known(file), folder.read(file)]
    if (!known || isProblem(recording)) continue
    const twin =
      repaired.length > 0 || known.isEarlier
        ? lookup.equal(known, known.test).find(other => isTwin(file, other.file, folder))
        : undefined
    if (twin) {
      folder.remove([file])
      repaired.push({ file, what: 'removed, the same as another one', to: twin.file })
      continue
    }
    if (!known.isEarlier) continue
    const text = changedText(folder.text(file), { ...recording, place: known.place }, displayPath(file))
    // A name of one's own stays.
    const isOwnName = hashesIn(file) !== undefined || !earlierName.test(file)
    const to = isOwnName ? file : folder.create(fileOf(recording.request, known.conversation, known.test), text)
    if (to === file) folder.replace(file, text)
    else folder.remove([file])
    repaired.push({ file, what: 'renamed', to })
  }
  return repaired
}

const earlierName = /-[0-9a-f]{12}(?:-\d{1,9})?\.yaml$/

function isTwin(file: string, other: string, folder: Folder): boolean {
  if (file === other) return false
  const [one, two] = [folder.read(file), folder.read(other)]
  return !isProblem(one) && !isProblem(two) && isSame({ ...one, place: 0 }, { ...two, place: 0 })
}
