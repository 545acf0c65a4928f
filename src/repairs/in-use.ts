/** The repairs in use: a recording chosen for a request, parts that are ignored, requests that are recorded now, and answers by hand. */
import type { Exchange } from '../core/exchange.js'
import { AGAIN_HEADER } from '../core/paths.js'
import type { IgnoreOption } from '../recordings/index.js'

/** The recording that answers requests with a key, or parts that are ignored. */
type Choice = { readonly key: string; readonly file: string } | { readonly ignore: readonly IgnoreOption[] }

/** A repair, and what it does in words. */
export type RepairInUse = Choice & { readonly id: string; readonly says: string }

export interface AnswerByHand {
  readonly rule: string
  /** What it answers. Another answer to the same takes its place. */
  readonly to: string
  readonly says: string
}

export class RepairsInUse {
  private choices: readonly RepairInUse[] = []
  private byHand: readonly AnswerByHand[] = []
  private count = 0
  private readonly marks = new Set<string>()

  all(): readonly RepairInUse[] {
    return this.choices
  }

  add(choice: Choice, says: string): string {
    const id = `repair-${++this.count}`
    this.choices = [...this.choices.filter(one => !isSame(one, choice)), { ...choice, id, says }]
    return id
  }

  /** Removes one, or all. Returns whether there was any. */
  remove(id?: string): boolean {
    const rest = id === undefined ? [] : this.choices.filter(one => one.id !== id)
    const isRemoved = rest.length < this.choices.length
    this.choices = rest
    return isRemoved
  }

  answers(): readonly AnswerByHand[] {
    return this.byHand
  }

  /** Notes an answer by hand. Returns the rule of the one whose place it takes. */
  noteAnswer(answer: AnswerByHand): string | undefined {
    const before = this.byHand.find(({ to }) => to === answer.to)
    this.byHand = [...this.byHand.filter(one => one !== before), answer]
    return before?.rule
  }

  forgetAnswer(rule: string): void {
    this.byHand = this.byHand.filter(one => one.rule !== rule)
  }

  /** The recording that answers requests with this key. */
  fileFor(key: string): string | undefined {
    const choice = this.choices.find(one => 'key' in one && one.key === key)
    return choice && 'file' in choice ? choice.file : undefined
  }

  ignored(): readonly IgnoreOption[] {
    return this.choices.flatMap(one => ('ignore' in one ? one.ignore : []))
  }

  /** Lets the request with this mark be recorded, whatever the mode, until the returned function is called. */
  record(mark: string): () => void {
    this.marks.add(mark)
    return () => void this.marks.delete(mark)
  }

  isRecorded({ headers }: Pick<Exchange, 'headers'>): boolean {
    return this.marks.size > 0 && this.marks.has(String(headers[AGAIN_HEADER]))
  }
}

const isSame = (one: Choice, other: Choice) =>
  'key' in one
    ? 'key' in other && one.key === other.key
    : JSON.stringify(one.ignore) === JSON.stringify('ignore' in other && other.ignore)
