/** Finds recordings by what their requests have in common with another one. */
import { setImmediate } from 'node:timers/promises'
import type { Folder } from './folder.js'
import { isProblem } from './folder.js'
import type { Ignore } from './ignore.js'
import { keysOf, type RequestKeys } from './key.js'
import { hashesIn, testHash } from './names.js'
import { type Format, formatOf } from './play.js'
import type { Question } from './recording.js'

/** A recording as it is compared: all but its request and its answer. */
export interface Known extends Omit<RequestKeys, 'sketches'>, Omit<Question, 'request'> {
  readonly file: string
  readonly method: string
  readonly format: Format
  readonly condition: Question['request']['condition']
  readonly sketches: ReturnType<RequestKeys['sketches']>
}

/** How long a file is trusted without being checked again. Editing one takes longer. */
const UNCHECKED_MS = 250
/** How long all files are, when each request is a miss. */
const ALL_UNCHECKED_MS = 1000
/** How long reading holds up other requests. */
const MOST_AT_ONCE_MS = 10

export class Lookup {
  /** By file. `undefined` for one that cannot be read. */
  readonly #known = new Map<string, { readonly known: Known | undefined; readonly stamp: string; checkedMs: number }>()
  readonly #byKey = new Map<string, Set<string>>()
  #allCheckedMs = Number.NEGATIVE_INFINITY

  constructor(
    readonly folder: Folder,
    readonly ignore: Ignore,
  ) {}

  /** Reads the files whose names say nothing. Call it before `equal`, and again when files may have been added. */
  ready(): Promise<void> | undefined {
    const unread = [...this.folder.unnamed()].filter(file => !this.#known.has(file))
    return unread.length === 0 ? undefined : this.#read(unread)
  }

  /** The recordings that have this request, in order: of one test, or, as far as names tell, of any. */
  equal({ key, conversation }: Pick<RequestKeys, 'key' | 'conversation'>, test?: string): readonly Known[] {
    const wanted = test === undefined ? undefined : testHash(test)
    for (const file of this.folder.named(conversation))
      if (!this.#known.has(file) && (wanted === undefined || hashesIn(file)?.test === wanted)) this.known(file)
    return [...(this.#byKey.get(key) ?? [])]
      .flatMap(file => this.known(file) ?? [])
      .filter(one => one.key === key && (test === undefined || one.test === test))
      .sort(byPlace)
  }

  /** Those of them that are in files whose names say nothing. */
  unnamed({ key }: Pick<RequestKeys, 'key'>): readonly Known[] {
    const files = [...(this.#byKey.get(key) ?? [])].filter(file => this.folder.unnamed().has(file))
    return files
      .flatMap(file => this.known(file) ?? [])
      .filter(one => one.key === key)
      .sort(byPlace)
  }

  /** The recordings that have this conversation, as far as names tell. */
  sharing({ conversation }: RequestKeys): readonly Known[] {
    const files = [...this.folder.named(conversation), ...this.folder.unnamed()]
    return files.flatMap(file => this.known(file) ?? []).filter(one => one.conversation === conversation)
  }

  /** All recordings that can be read. Reads the whole folder, once. */
  async all(): Promise<readonly Known[]> {
    const files = [...this.folder.files()]
    const isChecked = performance.now() - this.#allCheckedMs < ALL_UNCHECKED_MS
    await this.#read(isChecked ? files.filter(file => !this.#known.has(file)) : files)
    if (!isChecked) this.#allCheckedMs = performance.now()
    return files.flatMap(file => this.#known.get(file)?.known ?? [])
  }

  /** What is known of a file as it is now; `undefined` if it cannot be read. */
  known(file: string): Known | undefined {
    const before = this.#known.get(file)
    const nowMs = performance.now()
    if (before && nowMs - before.checkedMs < UNCHECKED_MS) return before.known
    const stamp = this.folder.stamp(file)
    if (before?.stamp === stamp && stamp !== '') {
      before.checkedMs = nowMs
      return before.known
    }
    const question = stamp === '' ? undefined : this.folder.question(file)
    return this.#learn(file, question && !isProblem(question) ? question : undefined, stamp)
  }

  /** What has just been written needs not be read. */
  learn(file: string, question: Question): void {
    this.#learn(file, question, this.folder.stamp(file))
  }

  #learn(file: string, question: Question | undefined, stamp: string): Known | undefined {
    const before = this.#known.get(file)?.known
    if (before) this.#byKey.get(before.key)?.delete(file)
    const known = question && knownOf(question, file, this.ignore)
    this.#known.set(file, { known, stamp, checkedMs: performance.now() })
    if (known) this.#byKey.set(known.key, (this.#byKey.get(known.key) ?? new Set()).add(file))
    return known
  }

  async #read(files: readonly string[]): Promise<void> {
    let startMs = performance.now()
    for (const file of files) {
      this.known(file)
      if (performance.now() - startMs < MOST_AT_ONCE_MS) continue
      await setImmediate()
      startMs = performance.now()
    }
  }
}

/** Recordings that became equal only later have the same place. */
export const byPlace = (one: Known, other: Known): number =>
  one.place - other.place ||
  Date.parse(one.recordedAt) - Date.parse(other.recordedAt) ||
  (one.file < other.file ? -1 : 1)

/** Earlier versions wrote the number of a recording into its name only. */
const numberInName = /-[0-9a-f]{12}-(\d{1,9})\.yaml$/

function knownOf({ request, ...question }: Question, file: string, ignore: Ignore): Known {
  const number = question.isEarlier && numberInName.exec(file)?.[1]
  const keys = keysOf(request, ignore)
  return {
    ...question,
    ...(number && { place: Number(number) }),
    ...keys,
    sketches: keys.sketches(),
    file,
    method: request.method,
    format: formatOf(request),
    condition: request.condition,
  }
}
