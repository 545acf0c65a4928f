/** What is read of a HAR file: as much of HAR 1.2 as recordings need, and as leniently as the tools that write it are free. */
import * as v from 'valibot'
import { check, type Mistake, open } from '../../check/check.js'
import { type Problem, ProblemsError } from '../../check/problem.js'
import { jsonTexts } from '../json-texts.js'

const text = v.string('text')
const number = v.number('a number')
const texts = v.nullish(text, '')
const numbers = v.nullish(number, 0)

const pair = open({ name: text, value: texts })
const pairs = v.nullish(v.array(pair, 'a list'), [])

const request = open({
  method: v.pipe(text, v.nonEmpty('text that is not empty')),
  url: v.pipe(text, v.check(URL.canParse, 'an address')),
  headers: pairs,
  bodySize: numbers,
  // Ours: as they are kept, with placeholders in them, which an address has to encode.
  _path: v.nullish(v.pipe(text, v.startsWith('/', 'a path that begins with /'))),
  _query: v.nullish(text),
  postData: v.nullish(
    open({
      mimeType: texts,
      text: v.nullish(text),
      params: pairs,
      // HAR 1.3, which several tools were early with.
      encoding: texts,
      _encoding: texts,
    }),
  ),
})

const chunk = open({ atMs: number, bytes: v.pipe(number, v.integer('a whole number')) })

const response = open({
  status: v.pipe(number, v.integer('a whole number')),
  headers: pairs,
  content: v.nullish(
    open({
      size: numbers,
      mimeType: texts,
      text: v.nullish(text),
      encoding: texts,
      // Ours: when the network delivered how many bytes.
      _chunks: v.nullish(v.array(chunk, 'a list')),
    }),
    {},
  ),
  // Chrome's.
  _error: v.nullish(v.unknown()),
  // Ours: whether the answer came to its end.
  _complete: v.nullish(v.boolean('true or false')),
})

const entry = open({
  startedDateTime: v.pipe(
    text,
    v.check(written => !Number.isNaN(Date.parse(written)), 'a time such as 2030-01-31T12:00:00.000Z'),
  ),
  request,
  response,
  timings: v.nullish(open({ wait: numbers, receive: numbers }), {}),
  // Chrome's and Firefox's: script, image, fetch …
  _resourceType: v.nullish(v.unknown()),
  // Ours: its number among those with the same request.
  _nth: v.nullish(number, 0),
})

const har = open({ log: open({ entries: v.array(v.unknown(), 'a list') }) })
/** Checked with its neighbours, so that what is wrong is named by its place in the file. */
const full = open({ log: open({ entries: v.array(entry, 'a list') }) })

export type Entry = v.InferOutput<typeof entry>

export interface Entries {
  /** Each with its place in the list. */
  readonly good: readonly { readonly entry: Entry; readonly nth: number }[]
  /** What is wrong with the others. */
  readonly problems: readonly Problem[]
}

/** More mistakes of one file do not help. */
const MISTAKES_SHOWN = 20

/** The entries of a HAR file. Throws a ProblemsError for any other file, and for one whose entries are all wrong. */
export function entriesIn(written: string, origin: string): Entries {
  const json = jsonIn(written, origin)
  const outline = check(har, json, { whole: 'The file' })
  if ('mistakes' in outline) throw new ProblemsError(problemsOf(outline.mistakes, origin, written))
  const checked = check(full, json)
  const mistakes = 'mistakes' in checked ? checked.mistakes : []
  const wrong = new Set(mistakes.map(({ path }) => path[2]))
  const problems = problemsOf(mistakes, origin, written)
  const good = outline.value.log.entries.flatMap((one, nth) => {
    const found = wrong.has(nth) ? undefined : check(entry, one)
    return found && 'value' in found ? [{ entry: found.value, nth }] : []
  })
  if (good.length === 0 && problems.length > 0) throw new ProblemsError(problems)
  return { good, problems }
}

function problemsOf(mistakes: readonly Mistake[], origin: string, written: string): readonly Problem[] {
  const more = mistakes.length - MISTAKES_SHOWN
  const told = mistakes.slice(0, MISTAKES_SHOWN)
  const positions =
    told.length === 0
      ? []
      : positionsOf(
          written,
          told.map(({ path }) => path),
        )
  return [
    ...told.map(({ sentence }, i) => ({ origin, ...placeAt(written, positions[i] ?? 0), sentence })),
    ...(more > 0 ? [{ origin, sentence: `${more} more values are wrong.` }] : []),
  ]
}

function jsonIn(written: string, origin: string): unknown {
  // The specification allows for a byte order mark.
  const json = written.replace(/^\ufeff/, '')
  try {
    return JSON.parse(json)
  } catch {
    // Not the message itself, which quotes the text: that may be a secret.
    const place = placeAt(json, positionOfMistake(json))
    throw new ProblemsError([{ origin, ...place, sentence: 'This is not valid JSON.' }])
  }
}

type Path = readonly (string | number)[]

/** Both count from 1. */
const placeAt = (text: string, position: number): Pick<Problem, 'line' | 'column'> => {
  const before = text.slice(0, position)
  return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') }
}

/** Where the values at these paths stand, or what is around them where they are not there; in their order. */
function positionsOf(json: string, paths: readonly Path[]): readonly number[] {
  const found = paths.map(() => ({ depth: -1, start: 0 }))
  for (const { start, kind, path } of jsonTexts(json, true)) {
    for (const [i, wanted] of paths.entries()) {
      const best = found[i]
      if (!best || path.length <= best.depth || path.length > wanted.length) continue
      if (path.every((step, at) => step === wanted[at]))
        found[i] = { depth: path.length, start: kind === 'text' ? start - 1 : start }
    }
  }
  return found.map(({ start }) => start)
}

const token =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON does not have them in texts
  /[ \t\r\n]*("[^"\\\0-\x1f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\0-\x1f]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:])/y

/** Where a text stops being JSON: not every message of JSON.parse says so. */
function positionOfMistake(json: string): number {
  const open: string[] = []
  let next: 'value' | 'name' | 'colon' | 'comma' = 'value'
  let isFirst = false
  let end = 0
  for (token.lastIndex = 0; ; end = token.lastIndex) {
    const [, sign] = token.exec(json) ?? []
    if (sign === undefined) break
    const inside = open.at(-1)
    const closes = sign === '}' ? '{' : sign === ']' ? '[' : undefined
    if (closes !== undefined) {
      if (inside !== closes || !(next === 'comma' || isFirst)) break
      open.pop()
      next = 'comma'
    } else if (
      next === 'colon'
        ? sign !== ':'
        : next === 'comma'
          ? sign !== ',' || open.length === 0
          : next === 'name' && sign[0] !== '"'
    )
      break
    else if (next === 'colon') next = 'value'
    else if (next === 'comma') next = inside === '{' ? 'name' : 'value'
    else if (next === 'name') next = 'colon'
    else if (sign === '{' || sign === '[') {
      open.push(sign)
      next = sign === '{' ? 'name' : 'value'
    } else if (sign === ',' || sign === ':') break
    else next = 'comma'
    isFirst = closes === undefined && (sign === '{' || sign === '[')
  }
  return end + (/^[ \t\r\n]*/.exec(json.slice(end, end + 10_000))?.[0].length ?? 0)
}
