/** The filters of the request list, as kept in the page's address. */
import { factFilterKeys, factTest } from '../../../core/caller.js'
import type { JournalBrief } from '../../../journal/operations.js'

/** The words of the journal's query that have their own field. */
export const filterWords = ['status', 'caller', 'mode', 'model', 'endpoint', 'scope'] as const
export type FilterWord = (typeof filterWords)[number]

export interface Filter extends Readonly<Record<FilterWord, string>> {
  /** Text to find, and words of the journal's query: `hello model:gpt-4o* credential:"my laptop"`. */
  readonly search: string
  /** Only requests that were missed, refused, failed or cut off. */
  readonly problems: boolean
}

export const everything: Filter = {
  search: '',
  status: '',
  caller: '',
  mode: '',
  model: '',
  endpoint: '',
  scope: '',
  problems: false,
}

/** The word that searches bodies. The list has none, so the journal does this search. */
const TEXT = 'text'

const isWord = (word: string) => word === TEXT || (factFilterKeys as readonly string[]).includes(word)

/** Parameters with their own field, and those that are not words of a query. */
const known = new Set([...Object.keys(everything), 'id'])

export const filterIn = (query: URLSearchParams): Filter => ({
  ...everything,
  ...Object.fromEntries(filterWords.map(word => [word, query.get(word) ?? ''])),
  search: [
    ...query.getAll('search'),
    // Other words of the query, for addresses that users type.
    ...[...query].flatMap(([word, value]) => (isWord(word) && !known.has(word) ? [`${word}:"${value}"`] : [])),
  ].join(' '),
  problems: query.has('problems'),
})

/** The query string of the page's address, with the open exchange; empty if nothing is set. */
export function queryOf({ problems, ...filter }: Filter, id?: string): string {
  const said = Object.entries({ ...filter, problems: problems ? 'yes' : '', id: id ?? '' })
  const query = new URLSearchParams(said.filter(([, value]) => value !== '')).toString()
  return query === '' ? '' : `?${query}`
}

/** The text to find in bodies, from `text:"hello there"` in the search. */
export const textIn = ({ search }: Pick<Filter, 'search'>): string | undefined => wordsIn(search).text

export function matching({ search, problems, ...filter }: Filter): (brief: JournalBrief) => boolean {
  const { words, rest } = wordsIn(search)
  const chosen = Object.entries({ ...filter, search: rest }).filter(([, value]) => value !== '')
  return factTest({ ...words, ...Object.fromEntries(chosen), ...(problems && { problems }) })
}

/** Splits the search into words such as `status:401` and the rest. */
function wordsIn(search: string) {
  const words: Record<string, unknown> = {}
  let text: string | undefined
  const rest = search.replace(/(?<!\w)(\w+):("[^"]*"|\S+)/g, (all, word: string, written: string) => {
    if (!isWord(word)) return all
    const value = written.replace(/^"|"$/g, '')
    if (word === TEXT) text = value
    else words[word] = word === 'complete' || word === 'problems' ? /^(true|yes)$/i.test(value) : value
    return ''
  })
  return { words, text, rest: rest.trim() }
}
