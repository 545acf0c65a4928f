/** What will not match tomorrow or elsewhere, said on the day of recording; and different requests that count as one because of what is ignored. */
import { LRUCache } from 'lru-cache'
import { changedParts } from '../check/finding.js'
import { withLeaves } from '../redact/index.js'
import { differencesBetween } from './differences.js'
import { type Ignore, ignoreFrom } from './ignore.js'
import { type IgnoredName, ownFolders } from './ignored-names.js'
import { requestKey } from './key.js'
import type { RecordedRequest } from './recording.js'
import type { Run } from './run.js'

/** Longer texts are files or images, and take long to search. */
const LONGEST_SEARCHED = 100_000
/** Requests that are remembered, to be compared with those that have the same key. */
const REMEMBERED = 500
const SHOWN_LENGTH = 60

const finders: readonly (readonly [name: IgnoredName, what: string, isIn: (text: string, now: Date) => boolean])[] = [
  ['dates', "today's date", hasDate],
  ['times', 'a time', hasTime],
  ['paths', 'a folder of this machine', hasFolder],
]

export class Tomorrow {
  readonly #counts = new Map<IgnoredName, Set<string>>()
  readonly #first = new LRUCache<string, RecordedRequest>({ max: REMEMBERED })

  /** What tools say is compared when a recording answers. */
  readonly #others: Ignore

  constructor(
    private readonly run: Pick<Run, 'remark'>,
    private readonly ignore: Ignore,
  ) {
    this.#others = ignoreFrom(ignore.withToolResults ? ['toolResults'] : [])
  }

  /** Looks for what is another text tomorrow, or on another machine, in a request that is recorded in this file. */
  look(request: RecordedRequest, file: string): void {
    const text = textOf(request, this.ignore)
    const now = new Date()
    const found = finders.filter(([, , isIn]) => isIn(text, now))
    if (found.length === 0) return
    for (const [name] of found) this.#counts.set(name, (this.#counts.get(name) ?? new Set()).add(file))
    this.run.remark('tomorrow', sentenceOf(this.#counts))
  }

  /** Notices requests of a test that have the same key only because of what is ignored. */
  compare(request: RecordedRequest, test: string, key: string, file: string): void {
    if (!this.ignore.isAny) return
    const by = `${test}\n${key}`
    const first = this.#first.get(by)
    if (!first) return void this.#first.set(by, request)
    if (requestKey(first, this.#others) === requestKey(request, this.#others)) return
    const [change] = differencesBetween(first, request)
    if (!change) return
    const [one, other] = changedParts(change.recorded ?? '', change.asked ?? '', SHOWN_LENGTH)
    this.run.remark(
      `shared ${by}`,
      `Different requests count as one only because of recordings.ignore (${file}): ${change.field} is ${one}, and ${other}.`,
    )
  }
}

function sentenceOf(counts: ReadonlyMap<IgnoredName, ReadonlySet<string>>): string {
  const found = finders
    .flatMap(([name, what]) => ({ name, what, count: counts.get(name)?.size ?? 0 }))
    .filter(({ count }) => count > 0)
  const list = found.map(({ what, count }, i) =>
    i === 0 ? `${count} ${count === 1 ? 'prompt contains' : 'prompts contain'} ${what}` : `${count} ${what}`,
  )
  const when = found.every(({ name }) => name === 'paths')
    ? 'elsewhere'
    : found.some(({ name }) => name === 'paths')
      ? 'tomorrow, or elsewhere,'
      : 'tomorrow'
  return `${list.join(', ')}: ${when} they miss. Add to platform.config.yaml: recordings.ignore: [${found.map(({ name }) => name).join(', ')}]`
}

/** All texts of a request that count. */
function textOf({ path, query, body }: RecordedRequest, ignore: Ignore): string {
  if (body.kind === 'text') return ignore.inText(body.text)
  const texts = [path, query]
  if (body.kind === 'json')
    withLeaves(ignore.inJson(body.value), leaf => {
      if (typeof leaf === 'number' || (typeof leaf === 'string' && leaf.length < LONGEST_SEARCHED))
        texts.push(String(leaf))
      return leaf
    })
  return texts.join('\n')
}

const months = 'January February March April May June July August September October November December'.split(' ')

/** In local time and in UTC. */
function hasDate(text: string, now: Date): boolean {
  const days = [
    [now.getFullYear(), now.getMonth(), now.getDate()],
    [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()],
  ] as const
  return days.some(([year, month, day]) => dateExpression(year, month, day).test(text))
}

let known: { readonly of: string; readonly expression: RegExp } | undefined

/** This day, as people and programs write it. */
function dateExpression(year: number, month: number, day: number): RegExp {
  const of = `${year} ${month} ${day}`
  if (known?.of === of) return known.expression
  const [m, d, name = ''] = [`0?${month + 1}`, `0?${day}`, months[month]]
  const [short, long] = [`${name.slice(0, 3)}\\.?`, name]
  const nth = `${d}(?:st|nd|rd|th)?`
  const forms = [
    `(?<![\\w-])${year}([-/])${m}(?:\\1)${d}`,
    `(?<![\\w.-])(?:${d}([-/.])${m}\\2|${m}([-/.])${d}\\3)(?:${year}|${year % 100})`,
    `\\b${nth}(?: of)?[ -](?:${long}|${short})\\b`,
    `\\b(?:${long}|${short}) ${nth}`,
  ]
  known = { of, expression: new RegExp(`(?:${forms.join('|')})(?![\\d])`) }
  return known.expression
}

/** How far a clock in a prompt may be from the time of the request. */
const NEAR_MINUTES = 5
const DAY_MS = 86_400_000
/** `14:05`, `14:05:33.123`, `2:05 PM`, and after a date and a T. */
const clockTime = /(?<![A-SU-Za-z\d_:.])(\d{1,2}):([0-5]\d)(?::[0-6]\d)?(?:\.\d+)?(?: ?([AaPp])\.?[Mm])?/g

function hasTime(text: string, now: Date): boolean {
  const clocks = [now.getHours() * 60 + now.getMinutes(), now.getUTCHours() * 60 + now.getUTCMinutes()]
  for (const [, hours, minutes, half] of text.matchAll(clockTime)) {
    const hour = half ? (Number(hours) % 12) + (/p/i.test(half) ? 12 : 0) : Number(hours)
    if (hour > 23) continue
    const apart = clocks.map(clock => Math.abs(clock - hour * 60 - Number(minutes)))
    if (apart.some(difference => Math.min(difference, 1440 - difference) <= NEAR_MINUTES)) return true
  }
  for (const [digits] of text.matchAll(/(?<![\w.])1[5-9]\d{8}(?:\d{3})?(?![\w.]\d|\w)/g)) {
    const ms = Number(digits) * (digits.length === 10 ? 1000 : 1)
    if (Math.abs(ms - now.getTime()) < DAY_MS) return true
  }
  return false
}

function hasFolder(text: string): boolean {
  return ownFolders().some(folder => {
    const at = text.indexOf(folder)
    return at >= 0 && !/[\w.-]/.test(text.charAt(at - 1)) && !/[\w-]/.test(text.charAt(at + folder.length))
  })
}
