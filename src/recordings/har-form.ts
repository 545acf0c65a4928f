/** The entries of a HAR file. The schema is as lenient as existing tools require. */
import * as v from 'valibot'
import { check, type Mistake } from '../check/check.js'
import { filled, open, text } from '../check/forms.js'
import { jsonFrom, withPlaces } from '../check/json-places.js'
import { type Problem, ProblemsError } from '../check/problem.js'
import { foreignFile } from './har-foreign.js'

const number = v.number('a number')
const harTexts = v.nullish(text, '')
const numbers = v.nullish(number, 0)
const sizes = v.nullish(number, -1) // HAR's -1 means not known.
const aUrl = v.check((url: string) => URL.canParse(url), 'a URL')

/** Polly writes lists as they are, and other tools numbers. */
const single = v.union([text, number, v.boolean()], 'a string, a number or a list of them')
const pair = open({ name: text, value: v.nullish(v.union([single, v.array(single)], single.message), '') })
const harPairs = v.pipe(
  v.nullish(v.array(pair, 'a list'), []),
  v.transform(pairs => pairs.flatMap(({ name, value }) => [value].flat().map(one => ({ name, value: String(one) })))),
)

/** A text beside the HAR file, as Playwright attaches it. */
const attached = { _file: v.nullish(text) }

const request = open({
  method: filled,
  url: v.pipe(text, aUrl),
  headers: harPairs,
  bodySize: sizes,
  postData: v.nullish(
    open({
      mimeType: harTexts,
      text: v.nullish(text),
      params: harPairs,
      // From HAR 1.3; several tools write it already.
      encoding: harTexts,
      ...attached,
    }),
  ),
})

const response = open({
  status: v.pipe(number, v.integer('a whole number')),
  statusText: harTexts,
  headers: harPairs,
  bodySize: numbers,
  content: v.nullish(
    open({
      size: numbers,
      mimeType: harTexts,
      text: v.nullish(text),
      encoding: harTexts,
      // Of Polly 4 and 5: the text is hexadecimal.
      _isBinary: v.nullish(v.boolean('true or false')),
      ...attached,
    }),
    {},
  ),
  // Chrome's.
  _error: v.nullish(v.unknown()),
})

const isTime = (time: string) => time === '' || !Number.isNaN(Date.parse(time))

const entry = open({
  // Empty if the file does not say it.
  startedDateTime: v.nullish(v.pipe(text, v.check(isTime, 'a time such as 2030-01-31T12:00:00.000Z')), ''),
  request,
  response,
  timings: v.nullish(open({ wait: numbers, receive: numbers }), {}),
  // Chrome's and Firefox's: script, image, fetch …
  _resourceType: v.nullish(v.unknown()),
})

const har = open({ log: open({ entries: v.array(v.unknown(), 'a list') }) })
/** Checked together with its neighbours, so that problems are named by their place in the file. */
const full = open({ log: open({ entries: v.array(entry, 'a list') }) })

export type Entry = v.InferOutput<typeof entry>

/** The headers by their names in lower case. */
export function harHeaders({ headers }: Pick<Entry['response'], 'headers'>): Readonly<Record<string, string>> {
  const values = Map.groupBy(headers, ({ name }) => name.toLowerCase())
  return Object.fromEntries([...values].map(([name, all]) => [name, all.map(({ value }) => value).join(', ')]))
}

/** At most this many problems of one file are listed. */
const MISTAKES_SHOWN = 20

/**
 * Reads the valid entries of a HAR file, with their places and the tool that wrote it, and the problems of the others.
 * Throws a ProblemsError if it is not one, or if all of its entries are invalid.
 */
export function entriesIn(file: string, origin: string) {
  // The specification allows a byte order mark.
  const source = file.replace(/^\ufeff/, '')
  const json = parsed(source, origin)
  const outline = check(har, json, { whole: 'The file' })
  if ('mistakes' in outline) throw notHar(source, json, problemsOf(outline.mistakes, origin, source))
  const checked = check(full, json)
  const mistakes = 'mistakes' in checked ? checked.mistakes : []
  const wrong = new Set(mistakes.map(({ path }) => path[2]))
  const problems = problemsOf(mistakes, origin, source)
  const { entries, ...log } = outline.value.log
  const good = entries.flatMap((one, nth) => {
    const found = wrong.has(nth) ? undefined : check(entry, one)
    return found && 'value' in found ? [{ entry: found.value, nth }] : []
  })
  if (good.length === 0 && problems.length > 0) throw new ProblemsError(problems)
  return { good, problems, tool: String((log.creator as { name?: unknown } | undefined)?.name) }
}

function parsed(source: string, origin: string): unknown {
  try {
    return jsonFrom(source, origin)
  } catch (error) {
    throw error instanceof ProblemsError ? notHar(source, undefined, error.problems) : error
  }
}

/** The problem with a file: what it is, if another tool's form is recognized, or what is wrong with it as a HAR file. */
function notHar(source: string, json: unknown, problems: readonly Problem[]): ProblemsError {
  const [first = { origin: '', sentence: '' }, ...others] = problems
  const sentence = foreignFile(source, json)
  if (sentence !== undefined) return new ProblemsError([{ origin: first.origin, sentence }])
  // What breaks off or has a mistake is meant to be one.
  const hint = /\blog\b/.test(source) ? '' : ' Import reads HAR files, as browsers, proxies and Polly save them.'
  return new ProblemsError([{ ...first, sentence: `${first.sentence}${hint}` }, ...others])
}

function problemsOf(mistakes: readonly Mistake[], origin: string, source: string): readonly Problem[] {
  const omitted = mistakes.length - MISTAKES_SHOWN
  return [
    ...withPlaces(mistakes.slice(0, MISTAKES_SHOWN), source, origin),
    ...(omitted > 0 ? [{ origin, sentence: `${omitted} more values are invalid.` }] : []),
  ]
}
