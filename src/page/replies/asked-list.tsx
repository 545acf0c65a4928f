/** The latest chat requests, with what can be made of each. */
import { useCallback, useState } from 'preact/hooks'
import type { JournalEntry } from '../../journal/operations.js'
import { useControl } from '../api.js'
import { useListing } from '../listing.js'
import { MakeRecordingDialog } from '../make/make-recording.jsx'
import { MakeRuleDialog } from '../make/make-rule.jsx'
import { StatusBadge } from '../widgets/badge.jsx'
import { Moment } from '../widgets/moment.jsx'
import { Empty, Shown } from '../widgets/states.jsx'
import { askedInShort } from './in-short.js'

const EVERY_MS = 3000
/** How many of the latest requests are shown. */
const LAST = 20

interface Open {
  readonly kind: 'rule' | 'recording'
  readonly id: string
}

export function AskedList() {
  const control = useControl()
  const load = useCallback(
    async (signal: AbortSignal) => {
      const body = { method: 'POST', path: '/v1/chat/completions', limit: LAST }
      return (await control('POST /journal/find', { body, signal })).data.toReversed()
    },
    [control],
  )
  const loaded = useListing(load, EVERY_MS)
  const [open, setOpen] = useState<Open>()
  const { listing } = loaded
  // The rules above already ask for the key.
  if (listing.kind === 'failed' && [401, 403].includes(listing.failure.status)) return null
  const close = () => setOpen(undefined)
  return (
    <>
      <Shown of={loaded}>
        {asked =>
          asked.length === 0 ? (
            <Empty title="No chat requests yet">
              <p>The last chat requests of your app appear here by themselves.</p>
            </Empty>
          ) : (
            <AskedTable asked={asked} onChoose={(kind, id) => setOpen({ kind, id })} />
          )
        }
      </Shown>
      {/* Outside the list, because newer requests push this one out of it. */}
      {open?.kind === 'rule' && <MakeRuleDialog entry={open} onClosed={close} />}
      {open?.kind === 'recording' && <MakeRecordingDialog entry={open} onClosed={close} />}
    </>
  )
}

interface Props {
  readonly asked: readonly JournalEntry[]
  readonly onChoose: (kind: 'rule' | 'recording', id: string) => void
}

/** A table of chat requests, with what can be made of each. */
function AskedTable({ asked, onChoose }: Props) {
  return (
    <table class="table table-stacking asked-table">
      <caption class="unseen">The last chat requests</caption>
      <thead>
        <tr>
          <th scope="col">Asked</th>
          <th scope="col">Answer</th>
          <th scope="col">When</th>
          <th scope="col">
            <span class="unseen">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {asked.map(({ id, at, status, source, request }) => (
          <tr key={id}>
            <th scope="row">
              {askedInShort(request.body)}
              <span class="row-detail">{source ?? 'no answer'}</span>
            </th>
            <td>
              <StatusBadge status={status} />
            </td>
            <td data-label="When">
              <Moment at={at} />
            </td>
            <td class="row-actions">
              <span class="row-buttons">
                <button type="button" class="button button-small" onClick={() => onChoose('rule', id)}>
                  Make a rule<span class="unseen"> of request {id}</span>
                </button>
                <button type="button" class="button button-small" onClick={() => onChoose('recording', id)}>
                  Make a recording<span class="unseen"> of request {id}</span>
                </button>
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
