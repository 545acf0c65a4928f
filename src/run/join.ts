/** A run of several processes, on the side of its tests: joins it, and reports to it. */
import { createClient } from '../core/client.js'
import { stringifyExact } from '../core/json.js'
import { CONTROL } from '../core/paths.js'
import type { JournalEntry } from '../journal/index.js'
import type { OwnOption, ReportedExchange, RunReport, sharedRunOperations } from './operations.js'

/** Tests may replace it. */
const { fetch } = globalThis

const clientOf = (url: string, token: string | undefined) =>
  createClient<ReturnType<typeof sharedRunOperations>>(`${url}${CONTROL}`, {
    fetch,
    bearer: () => token,
    stringify: stringifyExact,
    failed: ({ message, cause }) =>
      new Error(`standin exec does not answer at ${url}${message ? `: ${message}` : '.'} Has it ended?`, { cause }),
  })

export type JoinedRun = Awaited<ReturnType<typeof joinRun>>

/** `address` is what `standin exec` has put into the environment. Rejects with an Error if the run has ended. */
export async function joinRun(address: string, asking: { readonly file: string; readonly own: readonly OwnOption[] }) {
  const [url = '', token] = address.split('#')
  const call = clientOf(url, token)
  const { handed } = await call('POST /run', { body: asking })
  if (!handed) throw new Error(`${url} is no run of standin exec.`)
  const { part } = handed
  let waiting: ReportedExchange[] = []
  let sending: Promise<void> | undefined
  let failure: unknown

  /** What ends while others are on their way is sent together. */
  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const exchanges = waiting
      waiting = []
      await call('POST /run', { body: { part, exchanges } }).catch(error => {
        failure ??= error
      })
    }
    sending = undefined
  }

  return {
    handed,
    /** Reports an exchange. One that is open is reported again when it has ended, by the same id. */
    send(entry: JournalEntry, isOpen = false): void {
      waiting.push({ entry, isOpen })
      sending ??= sendAll()
    },
    /** Reports the end. Rejects with an Error if not everything has arrived. */
    async report(report: RunReport): Promise<void> {
      await sending
      await call('POST /run', { body: { part, report: stringifyExact(report) } })
      if (failure) throw failure
    },
  }
}
