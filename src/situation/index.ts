/** Follows what decides the next answer, and who changed it. */
import { isDeepStrictEqual } from 'node:util'
import type { Problem } from '../check/problem.js'
import { createListeners } from '../core/part.js'
import type { actors, SituationItem, SituationJson } from './operations.js'

export type { SituationItem } from './operations.js'

type Actor = (typeof actors)[number]

/** An item as its part knows it. */
export interface Decides extends Pick<SituationItem, 'what' | 'says' | 'undo'> {
  /** Whether its words change by themselves, as when a fault has hit one of its requests. */
  readonly isCounted?: true
}

interface Parts {
  readonly items: () => readonly Decides[]
  readonly problems: () => readonly Problem[]
  readonly saved: () => SituationJson['saved']
  readonly undo: (id: string) => boolean | Promise<boolean>
  /** Changes with each reload of the configuration. */
  readonly loaded: () => unknown
}

/** How often changes are looked for while somebody follows: tests in this process make them without a request. */
const LOOK_MS = 200

export class Situation {
  private latest: SituationJson = { data: [], problems: [] }
  private configuration: unknown
  private acting: Actor | undefined
  private readonly listeners = createListeners()
  private timer: NodeJS.Timeout | undefined
  readonly undo: Parts['undo']

  constructor(private readonly parts: Parts) {
    this.undo = parts.undo
    this.configuration = parts.loaded()
  }

  current(): SituationJson {
    this.look()
    return this.latest
  }

  /** Calls `listener` at each change. Returns a function that stops this. */
  follow(listener: () => void): () => void {
    this.look()
    const remove = this.listeners.add(listener)
    this.timer ??= setInterval(() => this.look(), LOOK_MS).unref()
    return () => {
      remove()
      if (!this.listeners.isEmpty()) return
      clearInterval(this.timer)
      this.timer = undefined
    }
  }

  /** Notes who makes the changes until the returned function is called. */
  by(actor: Actor): () => void {
    this.look()
    this.acting = actor
    return () => {
      this.look()
      this.acting = undefined
    }
  }

  private look(): void {
    const { items, problems, saved: lastSave, loaded } = this.parts
    const by = this.acting ?? (this.configuration === loaded() ? 'test' : 'configuration')
    this.configuration = loaded()
    const before = new Map(this.latest.data.map(item => [item.undo, item]))
    const data = items().map(({ isCounted, ...item }): SituationItem => {
      if (item.undo === null) return item
      const same = before.get(item.undo)
      if (same?.by && (isCounted || same.says === item.says)) return { ...same, ...item }
      return { ...item, by, at: new Date().toISOString() }
    })
    const saved = lastSave()
    const next = { data, problems: problems().map(problem => ({ ...problem })), ...(saved && { saved }) }
    if (isDeepStrictEqual(next, this.latest)) return
    this.latest = next
    this.listeners.emit()
  }
}
