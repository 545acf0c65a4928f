/** The receipt of a run: what it served, missed and recorded, by test. A plain value, so that those of several processes can be joined. */
import * as v from 'valibot'
import { violationCounts } from '../check/finding.js'
import { arrayOf, closed, map, optionalMember, text, wholeNumber, word } from '../check/forms.js'
import type { ValueOf } from '../core/operation.js'

const counts = {
  /** Requests answered from recordings. */
  served: wholeNumber,
  /** Those of them that had no recording of their own test, and were answered from one of another test. */
  others: wholeNumber,
  /** Those of them whose recording has other instructions, tools or parameters. */
  changedPrompts: wholeNumber,
  /** Those of them whose recording has other messages. */
  changedMessages: wholeNumber,
  /** Requests without a recording. */
  missed: wholeNumber,
  /** Recordings that were made. */
  recorded: wholeNumber,
}
type Counts = { -readonly [Name in keyof typeof counts]: number }

const ofTest = closed({
  ...counts,
  /** How it ended, if that is known. */
  result: optionalMember(word(['passed', 'failed'])),
})
export type TestReceipt = ValueOf<typeof ofTest>

/** Changes when the receipts of two versions cannot be joined. */
const VERSION = 1

export const receiptForm = closed({
  version: v.literal(VERSION, 'a receipt of this version'),
  ...counts,
  /** Those of the recordings made whose files are as before, because the answer says the same. */
  unchanged: wholeNumber,
  /** Those of them that are errors, by status, or `incomplete` for answers that broke off. */
  errors: map(text, wholeNumber, 'a map of counts'),
  /** Recordings that were replayed or made. */
  used: arrayOf(text),
  /** Recordings of the tests that ran that were not. */
  unused: arrayOf(text),
  /** Those of them that a recording run did not ask for. */
  notAsked: arrayOf(text),
  /** Exchanges that could not be saved, with the reasons. */
  notRecorded: arrayOf(text),
  /** Files that are no recordings, with the reasons. */
  unreadable: arrayOf(text),
  /** What will not match tomorrow or elsewhere, and what cannot be told apart, as sentences. */
  remarks: arrayOf(text),
  /** By the name of the test; an empty one for requests of no test. */
  tests: map(text, ofTest, 'a map of tests'),
  /** Requests forwarded to the live platform. */
  passed: wholeNumber,
  /** Requests that replies of the tests' own answered, so that they are neither recorded nor missed. */
  own: wholeNumber,
  /** Answers that violated the contract. */
  violations: violationCounts,
})
/** What recordings did in a run. */
export type Receipt = ValueOf<typeof receiptForm>
/** The part of the receipt that is about recordings. */
export type RunReceipt = Omit<Receipt, 'passed' | 'own' | 'violations'>

export const noCounts = (): Counts => ({
  ...{ served: 0, others: 0, changedPrompts: 0, changedMessages: 0, missed: 0, recorded: 0 },
})

export const emptyReceipt: Receipt = {
  version: VERSION,
  ...noCounts(),
  ...{ unchanged: 0, errors: {}, used: [], unused: [], notAsked: [], notRecorded: [], unreadable: [], remarks: [] },
  ...{ tests: {}, passed: 0, own: 0, violations: { documented: 0, decided: 0, unjudged: 0 } },
}

/** The receipt of several processes, shards or files that are parts of one run. What one of them has used is not unused. */
export function joinReceipts(receipts: readonly Receipt[]): Receipt {
  const union = (name: 'used' | 'unused' | 'notAsked' | 'notRecorded' | 'unreadable' | 'remarks') => [
    ...new Set(receipts.flatMap(one => one[name])),
  ]
  const used = new Set(union('used'))
  const notUsed = (files: readonly string[]) => files.filter(file => !used.has(file))
  const tests = receipts.flatMap(one => Object.entries(one.tests))
  return {
    version: VERSION,
    ...countsIn(receipts),
    unchanged: sum(receipts.map(({ unchanged }) => unchanged)),
    errors: summed(receipts.map(({ errors }) => errors)),
    used: [...used],
    unused: notUsed(union('unused')),
    notAsked: notUsed(union('notAsked')),
    notRecorded: union('notRecorded'),
    unreadable: union('unreadable'),
    remarks: union('remarks'),
    tests: Object.fromEntries(
      [...Map.groupBy(tests, ([name]) => name)].map(([name, all]) => [name, joinedTest(all.map(([, one]) => one))]),
    ),
    passed: sum(receipts.map(({ passed }) => passed)),
    own: sum(receipts.map(({ own }) => own)),
    violations: summed(receipts.map(({ violations }) => violations)),
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)

function countsIn(all: readonly Counts[]): Counts {
  const names = Object.keys(counts) as (keyof Counts)[]
  return Object.fromEntries(names.map(name => [name, sum(all.map(one => one[name]))])) as Counts
}

function joinedTest(all: readonly TestReceipt[]): TestReceipt {
  const results = all.map(({ result }) => result)
  const result = results.includes('failed') ? 'failed' : results.every(one => one === 'passed') ? 'passed' : undefined
  return { ...countsIn(all), ...(result && { result }) }
}

/** The sum of each number in some records. */
export function summed<T extends Readonly<Record<string, number>>>(all: readonly T[]): T {
  const sums: Record<string, number> = {}
  for (const [name, count] of all.flatMap(one => Object.entries(one))) sums[name] = (sums[name] ?? 0) + count
  return sums as T
}
