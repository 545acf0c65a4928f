/**
 * The schema for reading HAR files: the parts of HAR 1.2 that recordings need, as lenient as existing tools require.
 */
import * as v from 'valibot'
import { check, type Mistake, open, text } from '../../check/check.js'
import { jsonFrom, withPlaces } from '../../check/json-places.js'
import { type Problem, ProblemsError } from '../../check/problem.js'

const number = v.number('a number')
const texts = v.nullish(text, '')
const numbers = v.nullish(number, 0)

const pair = open({ name: text, value: texts })
const pairs = v.nullish(v.array(pair, 'a list'), [])

const request = open({
  method: v.pipe(text, v.nonEmpty('a string that is not empty')),
  url: v.pipe(text, v.check(URL.canParse, 'a URL')),
  headers: pairs,
  bodySize: numbers,
  postData: v.nullish(
    open({
      mimeType: texts,
      text: v.nullish(text),
      params: pairs,
      // From HAR 1.3; several tools write it already.
      encoding: texts,
    }),
  ),
})

const response = open({
  status: v.pipe(number, v.integer('a whole number')),
  headers: pairs,
  content: v.nullish(
    open({
      size: numbers,
      mimeType: texts,
      text: v.nullish(text),
      encoding: texts,
    }),
    {},
  ),
  // Chrome's.
  _error: v.nullish(v.unknown()),
})

const entry = open({
  startedDateTime: v.pipe(
    text,
    v.check(time => !Number.isNaN(Date.parse(time)), 'a time such as 2030-01-31T12:00:00.000Z'),
  ),
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

/** At most this many problems of one file are listed. */
const MISTAKES_SHOWN = 20

/**
 * Reads the valid entries of a HAR file, with their places, and the problems of the others. Throws a ProblemsError if it
 * is not one, or if all of its entries are invalid.
 */
export function entriesIn(file: string, origin: string) {
  // The specification allows a byte order mark.
  const source = file.replace(/^\ufeff/, '')
  const json = jsonFrom(source, origin)
  const outline = check(har, json, { whole: 'The file' })
  if ('mistakes' in outline) throw new ProblemsError(problemsOf(outline.mistakes, origin, source))
  const checked = check(full, json)
  const mistakes = 'mistakes' in checked ? checked.mistakes : []
  const wrong = new Set(mistakes.map(({ path }) => path[2]))
  const problems = problemsOf(mistakes, origin, source)
  const good = outline.value.log.entries.flatMap((one, nth) => {
    const found = wrong.has(nth) ? undefined : check(entry, one)
    return found && 'value' in found ? [{ entry: found.value, nth }] : []
  })
  if (good.length === 0 && problems.length > 0) throw new ProblemsError(problems)
  return { good, problems }
}

function problemsOf(mistakes: readonly Mistake[], origin: string, source: string): readonly Problem[] {
  const omitted = mistakes.length - MISTAKES_SHOWN
  return [
    ...withPlaces(mistakes.slice(0, MISTAKES_SHOWN), source, origin),
    ...(omitted > 0 ? [{ origin, sentence: `${omitted} more values are invalid.` }] : []),
  ]
}
