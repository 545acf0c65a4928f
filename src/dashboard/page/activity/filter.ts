/** The search of the list and its toggle for problems, as kept in the page's address. */
import { factFilterKeys, factTest } from '../../../core/caller.js'
import type { JournalBrief } from '../../../journal/operations.js'

export interface Filter {
  /** Text to find, and words of the journal's query: `hello model:gpt-4o* credential:"my laptop"`. */
  readonly search: string
  /** Only requests that were missed, refused, failed or cut off. */
  readonly problems: boolean
}

/** The word that searches bodies. The list has none, so the journal does this search. */
const TEXT = 'text'

/** The word that finds all requests of a run. */
const RUN = 'run'

const isWord = (word: string) => [TEXT, RUN, ...factFilterKeys].includes(word)

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

/** The text to find in bodies, from `text:"hello there"` in the search. */
export const textIn = ({ search }: Filter): string | undefined => wordsIn(search).words[TEXT]

export function matching({ search, problems }: Filter): (brief: JournalBrief) => boolean {
  const { words, rest } = wordsIn(search)
  const { [TEXT]: _text, [RUN]: run, complete, ...others } = words
  const isYes = (value: string) => /^(true|yes)$/i.test(value)
  const fits = factTest({
    ...others,
    ...(rest && { search: rest }),
    ...(complete !== undefined && { complete: isYes(complete) }),
    ...((problems || words.problems !== undefined) && { problems: problems || isYes(words.problems ?? '') }),
  } as Parameters<typeof factTest>[0])
  return brief => (run === undefined || brief.run === run) && fits(brief)
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
