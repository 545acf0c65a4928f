/** Builds and reads the file names of recordings. */
import { saidByUser } from '../chat/said.js'
import { isObject } from '../core/json.js'
import { rpcCallOf } from './json-rpc.js'
import type { RecordedRequest } from './recording.js'

/** A file in the folder of recordings, as its name describes it. */
export interface RecordingFile {
  /** Relative to the folder, with slashes: `chat-completions/gpt-4o-hello-1a2b3c4d5e6f.yaml`. */
  readonly file: string
  readonly key: string
  /** Its number among those with the same request, from 1. */
  readonly nth: number
}

const recordingName = /(?:^|[/-])([0-9a-f]{12})(?:-(\d{1,9}))?\.yaml$/

/** Parses a file name; `undefined` if it is not the name of a recording. */
export function entryOf(file: string): RecordingFile | undefined {
  const [, key, nth = '1'] = recordingName.exec(file) ?? []
  return key === undefined || /(^|\/)\./.test(file) ? undefined : { file, key, nth: Number(nth) }
}

/** The file of the `nth` recording of a request. */
export const fileOf = (request: RecordedRequest, key: string, nth: number): string =>
  // Joined rather than concatenated: V8 keeps the parts of a concatenation in memory, and these names are kept for as
  // long as the process runs.
  [endpointFolder(request.path), '/', slugOf(request), '-', key, nth > 1 ? `-${nth}` : '', '.yaml'].join('')

/** The name that a recording gets together with another request. One that was written by hand gets only the other key. */
export function renamedFile(
  { file, key, nth }: RecordingFile,
  before: RecordedRequest,
  after: RecordedRequest,
  newKey: string,
) {
  if (file === fileOf(before, key, nth)) return fileOf(after, newKey, nth)
  const at = file.lastIndexOf(key)
  return file.slice(0, at) + newKey + file.slice(at + key.length)
}

const LONGEST_SLUG = 50
const LONGEST_MODEL = 30
const LONGEST_FOLDER = 60

/**
 * A short description of a request: its model and the beginning of the user's text, or what it calls. If there is
 * neither, its query or its method.
 */
export function slugOf(request: RecordedRequest): string {
  const { model = '', prompt = '' } = subjectOf(request)
  const subject = [slugWords(model, LONGEST_MODEL), slugWords(prompt, LONGEST_SLUG)]
    .filter(part => part !== '')
    .join('-')
  const slug = cutAtWord(subject, LONGEST_SLUG) || slugWords(request.query.replace(/%[0-9a-f]{2}/gi, ' '), LONGEST_SLUG)
  return withoutKey(slug) || slugWords(request.method, LONGEST_SLUG) || 'request'
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

/** A file name ends with the key, so nothing before it may look like one. */
const withoutKey = (slug: string) => slug.replace(/(?<![0-9a-f])[0-9a-f]{12,}$/, digits => digits.slice(0, 11))

/** The model, and what the user said last or the call of a JSON-RPC request. */
export function subjectOf({ body }: RecordedRequest) {
  const call = rpcCallOf({ body })
  if (call !== undefined) return { model: undefined, prompt: call }
  const fields = body.kind === 'json' && isObject(body.value) ? body.value : {}
  return {
    model: typeof fields.model === 'string' ? fields.model : undefined,
    prompt: Array.isArray(fields.messages) ? saidByUser(fields.messages) : undefined,
  }
}
