/** A run of several processes, on the side of `standin exec`: what it hands to its tests, and what they have reported. */
import { randomBytes } from 'node:crypto'
import { notFound } from '../core/errors.js'
import { isLoopback } from '../core/origins.js'
import { createListeners } from '../core/part.js'
import { isSameSecret } from '../core/secrets.js'
import type { JournalEntry } from '../journal/index.js'
import { processName } from '../recordings/process.js'
import type { FaultOfKey, HandOver, OwnOption, ReportedExchange, RunReport } from './operations.js'

interface Host {
  readonly url: () => string
  /** `overridden` are the names of the overrides. */
  handOver(): Pick<HandOver, 'folder' | 'file' | 'options' | 'overrides'> & { readonly overridden: readonly string[] }
  /** Takes the report into the run's own counts. */
  take(report: RunReport): Promise<void>
}

/** A process, or a part of one, that has a server of its own. */
interface RunPart {
  /** Of its tests. */
  readonly file: string
  /** The options of the command line that it sets itself. */
  readonly own: readonly OwnOption[]
  /** By id. */
  readonly exchanges: Map<string, JournalEntry>
  hasReported: boolean
}

export class SharedRun {
  /** In the notes of all its processes. */
  readonly name = processName()
  isWhole = false
  readonly #token = randomBytes(24).toString('base64url')
  readonly #parts = new Map<string, RunPart>()
  readonly #removed: string[] = []
  #faults: readonly FaultOfKey[] = []
  readonly #listeners = createListeners<JournalEntry>()
  readonly follow = this.#listeners.add

  constructor(private readonly host: Host) {}

  /** What a process needs to join: the address and the token. */
  get address(): string {
    return `${this.host.url()}#${this.#token}`
  }

  mayJoin(authorization = '', remoteAddress = ''): boolean {
    return isLoopback(remoteAddress) && isSameSecret(authorization, `Bearer ${this.#token}`)
  }

  /** Each part that joins from now on applies these faults to its own requests. */
  handFaults(faults: readonly FaultOfKey[]): void {
    this.#faults = faults
  }

  join({ file, own }: Pick<RunPart, 'file' | 'own'>): HandOver {
    const part = `part-${this.#parts.size + 1}`
    const handed = this.host.handOver()
    const replaced = own.filter(({ name }) => handed.overridden.includes(name))
    this.#parts.set(part, { file, own: replaced, exchanges: new Map(), hasReported: false })
    const { folder, options, overrides } = handed
    return {
      ...{ part, run: this.name, folder, file: handed.file, options, overrides },
      ...{ isWhole: this.isWhole, faults: this.#faults },
    }
  }

  /** An exchange that was reported while it was open is replaced. */
  add(name: string, reported: readonly ReportedExchange[]): void {
    const { exchanges } = this.#part(name)
    for (const { entry, isOpen } of reported) {
      const named = { ...entry, id: `${name}.${entry.id}` }
      exchanges.set(named.id, named)
      if (!isOpen) this.#listeners.emit(named)
    }
  }

  async report(name: string, report: RunReport): Promise<void> {
    const part = this.#part(name)
    if (part.hasReported) return
    part.hasReported = true
    this.#removed.push(...report.removed)
    await this.host.take(report)
  }

  #part(name: string): RunPart {
    const part = this.#parts.get(name)
    if (!part) throw notFound()
    return part
  }

  /** The exchanges that were reported, also those that were open when their process was killed. */
  exchanges(): readonly JournalEntry[] {
    return [...this.#parts.values()].flatMap(({ exchanges }) => [...exchanges.values()])
  }

  parts(): readonly Omit<RunPart, 'exchanges'>[] {
    return [...this.#parts.values()]
  }

  /** The recordings that parts have removed, because their tests no longer asked for them. */
  removed(): readonly string[] {
    return this.#removed
  }
}
