/** A few readable words for the names of files and folders. */
import type { RecordedRequest } from './recording.js'
import { subjectOf } from './subject.js'

const LONGEST_SLUG = 50
const LONGEST_MODEL = 30
const LONGEST_FOLDER = 60

/** What a request is about: its model and the beginning of what the user said; without either its query, or at least its method. */
export function slugOf(request: RecordedRequest): string {
  const { model = '', said = '' } = subjectOf(request)
  const about = [words(model, LONGEST_MODEL), words(said, LONGEST_SLUG)].filter(part => part !== '').join('-')
  const slug = cut(about, LONGEST_SLUG) || words(request.query.replace(/%[0-9a-f]{2}/gi, ' '), LONGEST_SLUG)
  return withoutKey(slug) || words(request.method, LONGEST_SLUG) || 'request'
}

/** The folder for recordings of a path: `chat-completions` for `/v1/chat/completions`. */
export function endpointFolder(path: string): string {
  const name = words(path.replace(/^\/v\d+(?=\/.)/, '').replace(/%[0-9a-f]{2}/gi, ' '), LONGEST_FOLDER)
  return isReserved.test(name) ? `path-${name}` : name || 'root'
}

/** What Windows keeps for its devices. */
const isReserved = /^(?:con|prn|aux|nul|(?:com|lpt)\d)$/

/** Small letters and digits with dashes between; marks on letters are dropped, and so are letters of other scripts. */
const words = (text: string, longest: number) =>
  cut(
    text
      .slice(0, 10 * longest)
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, ''),
    longest,
  )

/** At the end of a word, if one ends in the second half. */
function cut(text: string, longest: number): string {
  if (text.length <= longest) return text
  const end = text.lastIndexOf('-', longest)
  return text.slice(0, end > longest / 2 ? end : longest)
}

/** Names end in a key, and there must be one only that can be meant. */
const withoutKey = (slug: string) => slug.replace(/[0-9a-f]{12,}$/, digits => digits.slice(0, 11))
