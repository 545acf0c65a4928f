/** Ids that no other start of the platform gives out. */
import { randomBytes } from 'node:crypto'

/** Makes ids of `prefix`, letters and digits: `random` of them the same for this start (a multiple of four), then eight that count. */
export function createIds(prefix: string, random: number): () => string {
  const begin =
    prefix +
    randomBytes((random * 3) / 4)
      .toString('base64url')
      .replace(/[-_]/g, 'x')
  let count = 0
  return () => begin + (count++).toString(36).padStart(8, '0')
}
