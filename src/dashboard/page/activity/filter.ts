/** The search of the list and its toggle for problems, as kept in the page's address. The journal does the search. */
import { factFilterKeys } from '../../../core/caller.js'

export interface Filter {
  /** Text to find, and words of the journal's query: `hello model:gpt-4o* credential:"my laptop"`. */
  readonly search: string
  /** Only requests that were refused, failed or cut off. */
  readonly problems: boolean
}

const isWord = (word: string) => ['text', 'answer', 'run', ...factFilterKeys].includes(word)

const written = (word: string, value: string) => (/^[^\s"]+$/.test(value) ? `${word}:${value}` : `${word}:"${value}"`)

export const filterIn = (query: URLSearchParams): Filter => ({
  search: [
    ...query.getAll('search'),
    // Other words of the query, for addresses that users type.
    ...[...query].flatMap(([word, value]) =>
      isWord(word) && word !== 'search' && word !== 'problems' ? [written(word, value)] : [],
    ),
  ].join(' '),
  problems: query.has('problems'),
})

/** The query string of the page's address, with the open exchange; empty if nothing is set. */
export function queryOf({ problems, search }: Filter, id?: string): string {
  const said = Object.entries({ search, problems: problems ? 'yes' : '', id: id ?? '' })
  const query = new URLSearchParams(said.filter(([, value]) => value !== '')).toString()
  return query === '' ? '' : `?${query}`
}

/** The search with a value that was clicked, in place of another value for the same word. */
export function withWord({ search, problems }: Filter, word: string, value: string): Filter {
  const { rest, words } = wordsIn(search)
  const others = Object.entries({ ...words, [word]: value }).map(([name, one]) => written(name, String(one)))
  return { problems, search: [...others, rest].filter(Boolean).join(' ') }
}

/** The journal's query for a filter; undefined if everything passes. */
export function journalQueryOf({ search, problems }: Filter): Readonly<Record<string, unknown>> | undefined {
  const { words, rest } = wordsIn(search)
  const { complete, problems: said, ...others } = words
  const isYes = (value: string) => /^(true|yes)$/i.test(value)
  const query = {
    ...others,
    ...(rest && { search: rest }),
    ...(complete !== undefined && { complete: isYes(complete) }),
    ...((problems || said !== undefined) && { problems: problems || isYes(said ?? '') }),
  }
  return Object.keys(query).length > 0 ? query : undefined
}

/** Splits the search into words such as `status:401` and the rest. */
function wordsIn(search: string) {
  const words: Record<string, string> = {}
  const rest = search.replace(/(?<!\w)(\w+):("[^"]*"|\S+)/g, (all, word: string, value: string) => {
    if (!isWord(word)) return all
    words[word] = value.replace(/^"|"$/g, '')
    return ''
  })
  return { words, rest: rest.replace(/\s+/g, ' ').trim() }
}
