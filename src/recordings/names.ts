/** The names of recordings' files: words for people, and two short hashes by which a file is looked up, and which are never trusted. */
import { hash } from 'node:crypto'
import { subjectOf } from './conversation.js'
import type { RecordedRequest } from './recording.js'

interface NamedBy {
  readonly conversation: string
  /** That of the test; empty for the run as a whole. */
  readonly test: string
}

const recordingName = /-([0-9a-f]{8})(?:-([0-9a-f]{6}))?(?:-\d{1,4})?\.ya?ml$/

/** The hashes in a file's name; `undefined` for a name of one's own, and for those of earlier versions. */
export function hashesIn(file: string): NamedBy | undefined {
  const [, conversation, test = ''] = recordingName.exec(file) ?? []
  return conversation === undefined ? undefined : { conversation, test }
}

/** The hash of a test in names; empty for the run as a whole. */
export const testHash = (test: string): string => (test === '' ? '' : hash('sha256', test, 'hex').slice(0, 6))

/** Whether a file may be a recording: any YAML outside of hidden folders. */
export const isRecordingName = (name: string): boolean => /^[^.].*\.ya?ml$/i.test(name)

/** The file of a recording, relative to the folder, with slashes. */
export const fileOf = (request: RecordedRequest, conversation: string, test: string): string =>
  // Joined rather than concatenated: V8 keeps the parts of a concatenation in memory, and these names are kept for as
  // long as the process runs.
  [
    ...[endpointFolder(request.path), '/', slugOf(request), '-', conversation],
    ...(test === '' ? [] : ['-', testHash(test)]),
    '.yaml',
  ].join('')

/** Another file of the same name. */
export const numbered = (file: string, n: number): string => (n === 1 ? file : file.replace(endOfName, `-${n}.yaml`))

const endOfName = /(?:-\d{1,4})?\.yaml$/

const LONGEST_SLUG = 50
const LONGEST_FOLDER = 60

/**
 * A short description of a request: the beginning of the user's text, or what it calls. If there is neither, its query,
 * its model or its method.
 */
export function slugOf(request: RecordedRequest): string {
  const { model = '', prompt = '' } = subjectOf(request)
  const query = request.query.replace(/%[0-9a-f]{2}/gi, ' ')
  const candidates = [prompt, query, model, request.method]
  return candidates.map(text => slugWords(text, LONGEST_SLUG)).find(words => words !== '') ?? 'request'
}

/** The folder for recordings of a path: `chat-completions` for `/v1/chat/completions`. */
export function endpointFolder(path: string): string {
  const name = slugWords(path.replace(/^\/v\d+(?=\/.)/, '').replace(/%[0-9a-f]{2}/gi, ' '), LONGEST_FOLDER)
  return isReserved.test(name) ? `path-${name}` : name || 'root'
}

/** Names that Windows reserves for devices. */
const isReserved = /^(?:con|prn|aux|nul|(?:com|lpt)\d)$/

/** Lower-case letters and digits, separated by dashes. Accents are removed, and so are letters of other scripts. */
function slugWords(text: string, longest: number): string {
  const plain = text
    .slice(0, 10 * longest)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
  let slug = ''
  for (const [word] of plain.matchAll(/[a-z0-9]+/g)) {
    slug += slug === '' ? word : `-${word}`
    if (slug.length > longest) break
  }
  return cutAtWord(slug, longest)
}

/** Cuts at the end of a word, if one ends in the second half. */
function cutAtWord(text: string, longest: number): string {
  if (text.length <= longest) return text
  const end = text.lastIndexOf('-', longest)
  return text.slice(0, end > longest / 2 ? end : longest)
}
