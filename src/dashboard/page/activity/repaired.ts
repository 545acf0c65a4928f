/** Asks the server for a repair, and keeps what came of each. */
import type { RepairResult, RepairWish } from '../../../repairs/operations.js'
import { control } from '../api.js'
import { announce, createShared } from '../widgets/shared.js'

/** What came of each repair, by the id of its exchange, so that the row still says it after it was scrolled away. */
export const done = createShared<Readonly<Record<string, RepairResult>>>({})

export async function repair(id: string, body: RepairWish): Promise<RepairResult> {
  const repaired = await control('POST /journal/{id}/repairs', { id, body })
  announce('did' in repaired ? repaired.did : repaired.failed)
  return repaired
}

/** Notes in its row what came of a repair. */
export const note = (id: string, repaired: RepairResult) => done.set({ ...done.get(), [id]: repaired })
