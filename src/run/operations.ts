/** What the processes of one run tell each other: what `standin exec` hands to its tests, and what these report. */
import * as v from 'valibot'
import { violating } from '../check/finding.js'
import { arrayOf, boolean, closed, oneForm, optionalMember, orNull, text, wholeNumber } from '../check/forms.js'
import { notFound } from '../core/errors.js'
import { faultSchema } from '../core/fault.js'
import { exactJsonOf, isObject } from '../core/json.js'
import { operation, type ValueOf } from '../core/operation.js'
import { exchangeInDetail } from '../journal/operations.js'
import { missForm, receiptForm } from '../recordings/operations.js'

/** A fault for the requests of one key, in whatever process they arrive. */
const faultOfKey = closed({ fault: faultSchema, times: wholeNumber, key: text })
export type FaultOfKey = ValueOf<typeof faultOfKey>

/** What the tests of a run take from its start. Values are JSON as text, with all digits of their numbers. */
const handOver = closed({
  part: text,
  /** The name of the run, in its notes. */
  run: text,
  /** The folder for relative paths. */
  folder: text,
  /** The configuration file; empty if there is none. */
  file: text,
  /** The options that are not at their defaults, as a list of paths and values. */
  options: text,
  /** Those of them that the command line and the environment set. */
  overrides: text,
  isWhole: boolean,
  faults: arrayOf(faultOfKey),
})
export type HandOver = ValueOf<typeof handOver>

/** What a process says when it has ended, or a whole run. */
export const reportForm = closed({
  /** The absolute path of its recordings. */
  folder: text,
  /** Null if no mode used recordings. */
  receipt: orNull(receiptForm),
  misses: arrayOf(missForm),
  violations: arrayOf(violating),
  /** Sentences about tests that have exceeded the budget. */
  overBudget: arrayOf(text),
  /** Recordings that its tests no longer asked for. */
  removed: arrayOf(text),
})
export type RunReport = ValueOf<typeof reportForm>

/** An exchange, which may not have ended. */
const reportedExchange = closed({ entry: exchangeInDetail, isOpen: boolean })
export type ReportedExchange = ValueOf<typeof reportedExchange>

/** An option that a test sets itself, and how. */
const ownOption = closed({ name: text, value: text })
export type OwnOption = ValueOf<typeof ownOption>

/** The run, as far as its tests see it. */
interface RunToJoin {
  mayJoin(authorization: string | undefined, remoteAddress: string | undefined): boolean
  join(asking: { readonly file: string; readonly own: readonly OwnOption[] }): HandOver
  add(part: string, exchanges: readonly ReportedExchange[]): void
  report(part: string, report: RunReport): Promise<void>
}

/** Requests and answers come whole, some of them with pictures. */
const bodyReading = { bytes: 268_435_456, parse: (body: Buffer) => JSON.parse(body.toString()) }

/** One of these: that it joins, exchanges, or what its tests did, at their end, as JSON in a text, with all digits of its numbers. */
const message = oneForm(
  [
    closed({ file: text, own: arrayOf(ownOption) }),
    closed({ part: text, exchanges: arrayOf(reportedExchange) }),
    closed({ part: text, report: v.pipe(text, v.transform(exactJsonOf), reportForm) }),
  ],
  value => (isObject(value) && 'part' in value ? ('exchanges' in value ? 1 : 2) : 0),
)

export const sharedRunOperations = ({ sharedRun }: { readonly sharedRun: RunToJoin | undefined }) => ({
  takePartInRun: operation({
    at: 'POST /run',
    does: 'For tests below `standin exec`: joins its run, and reports to it.',
    access: 'anyone',
    body: message,
    bodyReading,
    returns: closed({ handed: optionalMember(handOver) }),
    async run({ body, headers, remoteAddress }) {
      // Only a process that knows the token finds this operation, since what it hands over has the live key.
      if (!sharedRun?.mayJoin(headers.authorization, remoteAddress)) throw notFound()
      if ('file' in body) return { handed: sharedRun.join(body) }
      if ('exchanges' in body) sharedRun.add(body.part, body.exchanges)
      else await sharedRun.report(body.part, body.report)
      return {}
    },
  }),
})
