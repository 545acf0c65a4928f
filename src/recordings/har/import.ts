/** Takes the exchanges with the platform out of a HAR file. */
import type { Problem } from '../../core/problem.js'
import type { Redact } from '../../core/redact.js'
import type { Ignore } from '../ignore.js'
import { keyOf } from '../key.js'
import type { Recording } from '../recording.js'
import { type Entry, entriesIn } from './form.js'
import { placeOf, type Reason, reasonAgainst } from './passed-over.js'
import { recordingOf } from './recording-of.js'

export interface HarOptions {
  /** Only what lies below this address is the platform's; left out, everything is, with its path as it is. */
  readonly base: string | undefined
  readonly redact: Redact
  readonly ignore: Ignore
}

export interface Imported {
  /** The recordings of each request, by its key, in their order. */
  readonly byKey: ReadonlyMap<string, readonly Recording[]>
  /** How many entries were passed over, by the reason. */
  readonly passedOver: ReadonlyMap<Reason, number>
  /** What was not all there, a sentence each. */
  readonly remarks: readonly string[]
  /** What is wrong with entries that are left out. */
  readonly problems: readonly Problem[]
}

/** Throws a ProblemsError for a file that is no HAR, or has no entry that is right; `origin` is its name. */
export function importHar(written: string, origin: string, options: HarOptions): Imported {
  const found = new Map<string, { readonly recording: Recording; readonly nth: number }[]>()
  const passedOver = new Map<Reason, number>()
  const remarks: string[] = []

  function take(entry: Entry, called: string): void {
    const place = placeOf(entry.request.url, options.base)
    const reason = typeof place === 'string' ? place : reasonAgainst(entry, place)
    if (typeof place === 'string' || reason) {
      const why = reason as Reason
      passedOver.set(why, (passedOver.get(why) ?? 0) + 1)
      if (bodiless.has(why)) remarks.push(`${called} is ${why}.`)
      return
    }
    const recording = recordingOf(entry, place, options.redact, what => void remarks.push(`${called} ${what}.`))
    if (!recording.response.complete) remarks.push(`${called} broke off; it is kept as incomplete.`)
    const key = keyOf(recording.request, options.ignore)
    const same = found.get(key) ?? []
    same.push({ recording, nth: entry._nth ?? 0 })
    found.set(key, same)
  }

  const { good, problems } = entriesIn(written, origin)
  for (const { entry, nth } of good.toSorted(byTime)) take(entry, `log.entries[${nth}]`)
  return { byKey: new Map([...found].map(([key, same]) => [key, inOrder(same)])), passedOver, remarks, problems }
}

/** Worth more than a count: whoever saved the file may be able to save it with them. */
const bodiless: ReadonlySet<Reason> = new Set(['without the body of the request', 'without the body of the answer'])

const byTime = ({ entry: a }: { entry: Entry }, { entry: b }: { entry: Entry }) =>
  Date.parse(a.startedDateTime) - Date.parse(b.startedDateTime)

const inOrder = (same: readonly { readonly recording: Recording; readonly nth: number }[]) =>
  same.toSorted((a, b) => a.nth - b.nth).map(({ recording }) => recording)
