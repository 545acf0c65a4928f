/** Sets environment variables for tests, and restores them afterwards. */
import { remarksFor } from '../environment/index.js'
import type { OwnNames } from '../environment/names.js'
import { RUN } from '../platform/config/load.js'

type Variables = Readonly<Record<string, string | undefined>>

/** Returns a function that restores the old values. */
export function setVariables(values: Variables): () => void {
  const before = Object.fromEntries(Object.keys(values).map(name => [name, process.env[name]]))
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  return () => void setVariables(before)
}

/** Warns of variables of this process that point at another platform. Below `standin exec`, its receipt does. */
export function warnOfElsewhere(url: string, own: OwnNames): void {
  if (process.env[RUN] !== undefined) return
  const remarks = remarksFor(url, own, { folders: [], env: process.env })
  if (remarks.length > 0) console.warn(remarks.join('\n'))
}
